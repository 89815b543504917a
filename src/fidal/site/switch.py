"""The site's own switch, a file with one word: a person turns it, every request looks at it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from fidal.site.refusal import Refusal
from fidal.storage import StateError, write_atomic

Position = Literal["on", "paused", "stopped"]
POSITIONS: Final[tuple[Position, ...]] = get_args(Position)


@dataclass(frozen=True)
class Switch:
    """No file stands for "on"."""

    path: Path

    @property
    def position(self) -> Position:
        """What it is turned to; a file that says anything else is an error, not "on"."""
        if not self.path.exists():
            return "on"
        word = self.path.read_text().strip()
        for position in POSITIONS:
            if word == position:
                return position
        raise StateError(f"{self.path} says {word!r}; write one of {', '.join(POSITIONS)} into it")

    def turn(self, position: Position) -> None:
        """From the next request on."""
        write_atomic(self.path, f"{position}\n".encode())

    def check(self) -> None:
        """Paused, the site is as good as absent: the coordinator waits for it while it can."""
        if self.position == "paused":
            raise Refusal("this site has paused", trouble="absent")
        if self.position == "stopped":
            raise Refusal("this site has left the federation")
