"""Table 1 of the paper: score and ID purity at each method's best round, and its honest twin."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from fidal.report.comparing import best_round, final_round
from fidal.report.frame import Study
from fidal.report.paper import At, Cell, cell_of, setting_of
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table, Value

ROUND: Final[Mapping[At, Callable[[Study, str], int]]] = {
    "best": best_round,
    "final": final_round,
}
CAPTIONS: Final[Mapping[At, str]] = {
    "best": "Each method at the round where its mean score over seeds is highest. That round is "
    "chosen on the test images, as in the paper, and flatters every method; the table of the final "
    "round does not.",
    "final": "All methods at the last round of the study.",
}
SPREAD: Final = (
    " Mean ± standard deviation over seeds, in percent; ID purity is the share of everything an "
    "expert looked at so far, warm-up included, that belonged. Best in bold, second underlined."
)


def headline(study: Study, at: At, methods: Sequence[str] = ()) -> Table:
    """One study, one line per method: every reading of the score, purity, OOD queried."""
    methods = methods or study.main
    keys = [f"{measure}_{how}" for measure in _measures(study) for how in ("pooled", "mean")]
    papers = [cell_of(study, method, at) for method in methods]
    beside = any(papers)
    lines = []
    for method, paper in zip(methods, papers, strict=True):
        round = ROUND[at](study, method)
        numbers = [study.spread(method, key, round) for key in (*keys, "purity", "outliers")]
        theirs = _theirs(paper) if beside else ()
        lines.append(Line((label(method), f"R{round}", *numbers, *theirs), study.strategy(method)))
    which = "best round" if at == "best" else "final round"
    return Table(
        name=f"{at}-round",
        title=f"Results at {'each method’s best' if at == 'best' else 'the final'} round",
        caption=f"{study.name}, {which}. {CAPTIONS[at]}{SPREAD}{_reference(study, papers)}",
        columns=(
            Column("Method"),
            Column("Round"),
            *(Column(_READINGS[key], "high", 100) for key in keys),
            Column("ID purity (%)", "high", 100),
            Column("OOD queried", "low", digits=0),
            *(_PAPER if beside else ()),
        ),
        lines=tuple(lines),
    )


_PAPER: Final = (
    Column("In the paper: score (%)", scale=100, digits=2),
    Column("In the paper: ID purity (%)", scale=100),
)


def _theirs(cell: Cell | None) -> tuple[Value, Value]:
    return (cell.score, cell.purity) if cell else ("–", "–")


def _reference(study: Study, papers: Sequence[Cell | None]) -> str:
    """Where the paper's numbers were taken from, and whether they are of this setting."""
    there = next((cell for cell in papers if cell), None)
    if there is None or there.setting is None:
        return ""
    (B, E), (own_B, own_E) = there.setting, setting_of(study)
    same = f" this study: B = {own_B}, E = {own_E}." if (B, E) != (own_B, own_E) else ""
    return (
        f" In the paper: {there.table}, B = {B} and E = {E} local epochs, on its own images, "
        f"network and encoder; a reference, not a rival{';' if same else '.'}{same}"
    )


_READINGS: Final = {
    "bma_pooled": "BMA, pooled (%)",
    "bma_mean": "BMA, mean of sites (%)",
    "accuracy_pooled": "Accuracy, pooled (%)",
    "accuracy_mean": "Accuracy, mean of sites (%)",
}


def _measures(study: Study) -> tuple[str, ...]:
    return ("accuracy", "bma") if study.measure == "accuracy" else ("bma", "accuracy")
