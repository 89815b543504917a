"""The experts' desk: what waits for an answer, giving one, taking it back."""

from dataclasses import dataclass

from fidal.site.ledger import Ledger
from fidal.types import OUTLIER


@dataclass(frozen=True)
class Task:
    """One image that an expert shall look at."""

    sample: str
    round: int
    rank: int
    """Its place on the round's worklist, 1 for the best."""


@dataclass(frozen=True, eq=False)
class Desk:
    """Reads and writes the site's ledger; an answer is on the disk when `answer` returns."""

    ledger: Ledger
    classes: tuple[str, ...]

    def pending(self) -> tuple[Task, ...]:
        """All images without an answer: worklists in the order of their rounds, best first. What an
        earlier round left over is still wanted.
        """
        answered = self.ledger.answers()
        return tuple(
            Task(sample, round, rank)
            for round in self.ledger.rounds()
            for rank, sample in enumerate(self.ledger.worklist(round) or (), start=1)
            if sample not in answered
        )

    def answered(self) -> int:
        """How many images have an answer."""
        return len(self.ledger.answers())

    def answer(self, sample: str, word: str, by: str) -> None:
        """`word` is a class, or "ood" for an image that does not belong here."""
        if word != "ood" and word not in self.classes:
            raise ValueError(f"no class {word!r}; answer ood or one of {', '.join(self.classes)}")
        label = OUTLIER if word == "ood" else self.classes.index(word)
        self.ledger.answer(sample, label, _person(by))

    def undo(self, by: str) -> str | None:
        """Take back this person's latest answer; its image is pending again."""
        return self.ledger.undo(_person(by))


def _person(by: str) -> str:
    if not by.strip():
        raise ValueError("say who answers: `by` is empty")
    return by
