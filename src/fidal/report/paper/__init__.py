"""The paper's own numbers, to stand beside ours where the benchmark is one of its own.

scores.csv   Table 1 and Tables S3 to S5, cell by cell; in percent
pools.csv    Tables S1 and S2: known outliers per site and kind, and their share of the site
quoted.csv   what its text says of annotation cost and of the gate

B is the budget per site and round; E its local epochs per AL round, which are our T x E. An empty B
is the table's column "Avg.". The supervised model is the strategy `supervised`.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from fidal.report.frame import Study
from fidal.report.spread import Spread

At = Literal["best", "final"]

LAST: Final = {"fedisic": 5, "fedcamelyon": 10, "fedembed": 10}
"""The final round R of each benchmark."""
SEEDS: Final = 3
ALL: Final = "all"
"""The kind of pools.csv that counts all kinds together."""


@dataclass(frozen=True)
class Cell:
    """One cell of Table 1 or of Tables S3 to S5."""

    table: str
    benchmark: str
    strategy: str
    setting: tuple[int, int] | None
    """(B, E); None for an average."""
    score: Spread
    """BMA, or accuracy on FedCamelyon, as a share; with its round where the table has it."""
    purity: float

    def stands_at(self, at: At) -> bool:
        """Table S5 is of the final round, the others are of each method's best."""
        if at == "best":
            return self.table != "Table S5"
        last = LAST.get(self.benchmark)
        return self.table == "Table S5" or (last is not None and self.score.round == last)


@dataclass(frozen=True)
class Known:
    """One cell of Tables S1 and S2."""

    images: int
    share: float | None
    """Of all images of the site."""


@cache
def cells() -> tuple[Cell, ...]:
    """All of scores.csv, Table 1 first."""
    return tuple(
        Cell(
            table=row["table"],
            benchmark=row["benchmark"],
            strategy=row["method"],
            setting=(int(row["B"]), int(row["E"])) if row["B"] else None,
            score=_spread(row),
            purity=float(row["purity"]) / 100,
        )
        for row in read("scores.csv")
    )


def cell_of(study: Study, method: str, at: At) -> Cell | None:
    """The paper's number for a method, in the study's own (B, E) or else in that of Table 1."""
    strategy = study.strategy(method).removesuffix("-paper")
    own = find(study.benchmark, strategy, setting_of(study), at)
    return own or find(study.benchmark, strategy, headline_setting(study.benchmark), at)


def headline_setting(benchmark: str) -> tuple[int, int] | None:
    """(B, E) of Table 1; None if the benchmark is not in it."""
    settings = [cell.setting for cell in cells() if cell.benchmark == benchmark]
    return settings[0] if settings else None


def find(benchmark: str, strategy: str, setting: tuple[int, int] | None, at: At) -> Cell | None:
    """Table 1 before the others, where both have the cell."""
    for cell in cells():
        place = (cell.benchmark, cell.strategy, cell.setting)
        if place == (benchmark, strategy, setting) and cell.stands_at(at):
            return cell
    return None


def setting_of(study: Study) -> tuple[int, int]:
    """(B, E) of a study; zero where a configuration has no such number."""
    config = study.runs[0].config
    training: Any = config.get("training") or {}
    budget = config.get("budget")
    epochs = int(training.get("rounds", 0)) * int(training.get("epochs", 1))
    return (budget if isinstance(budget, int) else 0, epochs)


def supervised(benchmark: str) -> float | None:
    """Score of the model trained on all labels of the clean pool, as a share."""
    cell = find(benchmark, "supervised", headline_setting(benchmark), "best")
    return cell.score.mean if cell else None


def quoted(benchmark: str, quantity: str) -> dict[str, float]:
    """What the text says, by strategy or by rule of the gate."""
    return {
        row["of"]: float(row["value"])
        for row in read("quoted.csv")
        if (row["benchmark"], row["quantity"]) == (benchmark, quantity)
    }


def pool_outliers(benchmark: str) -> dict[str, dict[str, Known]]:
    """Known outliers of each site by kind, ALL among the kinds; empty for other benchmarks."""
    sites: dict[str, dict[str, Known]] = {}
    for row in read("pools.csv"):
        if row["benchmark"] == benchmark:
            share = float(row["share"]) / 100 if row["share"] else None
            sites.setdefault(row["site"], {})[row["kind"]] = Known(int(row["images"]), share)
    return sites


def read(name: str) -> Iterator[dict[str, str]]:
    """The rows of one of the files."""
    text = files("fidal.report.paper").joinpath(name).read_text("utf-8")
    return iter(csv.DictReader(text.splitlines()))


def _spread(row: dict[str, str]) -> Spread:
    return Spread(
        mean=float(row["score"]) / 100,
        std=float(row["std"]) / 100 if row["std"] else float("nan"),
        seeds=SEEDS,
        of=SEEDS,
        round=int(row["round"]) if row["round"] else None,
    )
