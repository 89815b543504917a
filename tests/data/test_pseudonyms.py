import re
from pathlib import Path

import pytest

from fidal.data.pseudonyms import Pseudonyms, read_salt


def test_a_pseudonym_depends_on_the_salt_the_kind_and_the_number() -> None:
    here, there = Pseudonyms(b"salt of this site"), Pseudonyms(b"salt of that site")
    names = [
        here.of("image", "10000258"),
        here.of("patient", "10000258"),
        here.of("image", "10000259"),
        there.of("image", "10000258"),
    ]
    assert len(set(names)) == 4
    assert all(re.fullmatch("[0-9a-f]{16}", name) for name in names)
    assert here.of("image", "10000258") == names[0]
    assert Pseudonyms(b"salt of this site").of("image", "10000258") == names[0]


def test_every_byte_of_a_long_salt_counts() -> None:
    """A hash takes 64 bytes of key; a salt may have more."""
    one, other = b"s" * 64 + b"1", b"s" * 64 + b"2"
    assert Pseudonyms(one).of("image", "7") != Pseudonyms(other).of("image", "7")


def test_no_two_of_many_numbers_meet() -> None:
    names = Pseudonyms(b"x" * 16)
    assert len({names.of("image", str(i)) for i in range(100_000)}) == 100_000


def test_the_salt_is_in_no_text() -> None:
    assert "secret" not in repr(Pseudonyms(b"secret of this site"))


def test_a_salt_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "salt"
    path.write_bytes(b"  sixteen bytes or more\n")
    assert read_salt(path) == b"sixteen bytes or more"
    path.write_bytes(b"short\n" + b" " * 20)
    with pytest.raises(ValueError, match=r"salt_file: .*salt holds 5 bytes; 16 or more can't be"):
        read_salt(path)
    with pytest.raises(ValueError, match=r"salt_file: there is no file .*none; make one"):
        read_salt(tmp_path / "none")
