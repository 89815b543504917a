"""How far each number can be trusted: its confidence interval over seeds."""

from fidal.report.comparing import difference, final_round
from fidal.report.frame import Study
from fidal.report.style import label
from fidal.report.tables.paired import interval
from fidal.report.tables.table import Column, Line, Table, Value


def intervals(study: Study) -> Table:
    """Per method, at the final round."""
    lines = []
    for method in study.main:
        round = final_round(study, method)
        cells: list[Value] = [label(method)]
        for key in (study.score(), "purity", "outliers"):
            values = study.values(method, key)[:, round]
            scale = 1 if key == "outliers" else 100
            mean = difference(scale * values, 0 * values)
            cells += [mean.mean, interval(mean.low, mean.high)]
        pairs = study.spread(method, study.score(), round).seeds
        lines.append(Line((cells[0], pairs, *cells[1:]), study.strategy(method)))
    return Table(
        name="intervals",
        title="Confidence intervals over seeds",
        caption=(
            f"{study.name}, final round R{study.rounds[-1]}. Mean over seeds and the 95 % interval "
            "of that mean (t-distribution): what other seeds would move, not what other images or "
            "other sites would. Two methods are compared by the paired tests, seed by seed, which "
            "see more than two intervals side by side."
        ),
        columns=(
            Column("Method"),
            Column("Seeds"),
            Column(f"{study.score_name} (%)", "high"),
            Column("95 % interval"),
            Column("ID purity (%)", "high"),
            Column("95 % interval of purity"),
            Column("OOD queried", "low", digits=0),
            Column("95 % interval of OOD"),
        ),
        lines=tuple(lines),
    )
