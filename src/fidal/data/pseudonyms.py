"""Names that tell nothing: keyed hashes of patients' and images' numbers.

Who does not hold the salt can neither read a number from its pseudonym nor try out all numbers.
The same salt gives the same pseudonyms, so work can be resumed and a site can find its images again
by hashing its list; the salt itself is written nowhere.
"""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

SHORTEST: Final = 16
"""Bytes of a salt that nobody guesses."""


@dataclass(frozen=True)
class Pseudonyms:
    """Hashes by one salt, which is in no text that is made of this object."""

    salt: bytes = field(repr=False)

    def of(self, kind: Literal["image", "patient"], number: str) -> str:
        """16 hexadecimal digits. An image and a patient of the same number get different ones."""
        key = hashlib.blake2b(self.salt).digest()
        return hashlib.blake2b(
            number.encode(), digest_size=8, key=key, person=kind.encode()
        ).hexdigest()


def read_salt(path: Path) -> bytes:
    """The bytes of a file that only this site has, without spaces and line ends around them."""
    if not path.is_file():
        raise ValueError(
            f"salt_file: there is no file {path.absolute()}; make one that only this site has, "
            f"e.g. head -c 32 /dev/urandom | base64 > {path.name}"
        )
    salt = path.read_bytes().strip()
    if len(salt) < SHORTEST:
        raise ValueError(
            f"salt_file: {path.absolute()} holds {len(salt)} bytes; {SHORTEST} or more can't be "
            f"guessed, e.g. head -c 32 /dev/urandom | base64 > {path.name}"
        )
    return salt
