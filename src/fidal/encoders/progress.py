"""How far an embedding is, how fast, and how long it will take."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class Progress:
    """What is told after each chunk."""

    done: int
    """Images whose embedding is there, found in the cache or computed."""
    total: int
    computed: int
    """Those of them that were computed now."""
    seconds: float
    """What computing them took."""

    @property
    def rate(self) -> float:
        """Computed images per second; 0 while there are none."""
        return self.computed / self.seconds if self.seconds > 0 else 0.0

    @property
    def left(self) -> timedelta | None:
        """Until the end if nothing more is found in the cache; None while nobody knows."""
        if self.done == self.total:
            return timedelta(0)
        return timedelta(seconds=round((self.total - self.done) / self.rate)) if self.rate else None

    def __str__(self) -> str:
        speed = f", {self.rate:,.1f} images/s" if self.computed else ", from the cache"
        left = f", {self.left} left" if self.left else ""
        return f"{self.done:,} of {self.total:,} images{speed}{left}"


Told = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Tells nobody."""


def sometimes(encoder: str, say: Callable[[str], None], seconds: float = 10) -> Told:
    """Says a line after so much computing, and at the end if anything was computed."""
    said = 0.0

    def told(progress: Progress) -> None:
        nonlocal said
        last = progress.done == progress.total and progress.computed > 0
        if last or progress.seconds - said >= seconds:
            said = progress.seconds
            say(f"encoder '{encoder}': {progress}")

    return told
