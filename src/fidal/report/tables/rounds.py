"""The numbers behind the curves: every method at every round."""

from fidal.report.frame import Study
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table


def rounds(study: Study) -> Table:
    """Federation-wide."""
    lines = []
    for method in study.methods:
        for round in study.rounds:
            keys = (study.score(), "purity", "labelled", "outliers")
            numbers = [study.spread(method, key, round) for key in keys]
            lines.append(Line((label(method), f"R{round}", *numbers), study.strategy(method)))
    return Table(
        name="all-rounds",
        title="Every round",
        caption=(
            f"{study.name}. {study.score_name} on the pooled test images and ID purity in percent, "
            "labelled ID and OOD images so far; mean ± standard deviation over seeds. R0 is the "
            "random warm-up, the same for every method."
        ),
        columns=(
            Column("Method"),
            Column("Round"),
            Column(f"{study.score_name} (%)", scale=100),
            Column("ID purity (%)", scale=100),
            Column("ID labelled", digits=0),
            Column("OOD queried", digits=0),
        ),
        lines=tuple(lines),
    )
