"""Pauses between two looks at something that Flower can only be asked about."""

import time
from typing import Final

SHORTEST: Final = 0.05
GROWTH: Final = 1.2


class Pace:
    """Short pauses after something has happened, longer ones as nothing does: a message is found
    soon while training goes on, and a federation that waits for people for days costs little.
    """

    def __init__(self) -> None:
        self._pause = SHORTEST

    def again(self) -> None:
        """Something has happened."""
        self._pause = SHORTEST

    def rest(self, longest: float) -> None:
        """Pause, at most so many seconds."""
        time.sleep(min(longest, self._pause))
        self._pause = min(self._pause * GROWTH, 60.0)
