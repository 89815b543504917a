"""Is a difference more than chance? Paired t-tests over seeds, which the paper leaves out."""

import math

from fidal.report.comparing import difference, final_round, holm, reference
from fidal.report.frame import Study
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table


def paired(study: Study) -> Table:
    """The reference against every other method at the final round, seed by seed."""
    base = reference(study)
    round = final_round(study, base)
    rivals = [method for method in study.main if method != base]
    gaps = {}
    for key in (study.score(), "purity"):
        ours = study.values(base, key)[:, round]
        gaps[key] = [difference(ours, study.values(m, key)[:, round]) for m in rivals]
    scores, purities = gaps[study.score()], gaps["purity"]
    corrected = holm([gap.p for gap in scores])
    lines = []
    for method, score, purity, p in zip(rivals, scores, purities, corrected, strict=True):
        cells = (
            label(method),
            score.pairs,
            _points(score.mean),
            interval(100 * score.low, 100 * score.high, signs=True),
            _p(score.p),
            _p(p),
            _points(purity.mean),
            interval(100 * purity.low, 100 * purity.high, signs=True),
        )
        lines.append(Line(cells, study.strategy(method)))
    return Table(
        name="paired-tests",
        title=f"{label(base)} against the others, paired by seed",
        caption=(
            f"{study.name}, final round R{round}. Same seed, same warm-up and same initial weights "
            "on both sides. Gap of the score and of ID purity in points, positive where "
            f"{label(base)} is ahead, with the 95 % interval of its mean (t-distribution); "
            "two-sided p, and p after Holm’s correction for the number of rivals. Few seeds make "
            "wide intervals: an interval that contains 0 shows neither a difference nor equality."
        ),
        columns=(
            Column("Against"),
            Column("Seeds"),
            Column("Score gap"),
            Column("95 % interval"),
            Column("p"),
            Column("p (Holm)"),
            Column("Purity gap"),
            Column("95 % interval of purity"),
        ),
        lines=tuple(lines),
    )


def interval(low: float, high: float, signs: bool = False) -> str:
    """`61.2 to 63.0`; with signs `−1.2 to +3.0`."""
    form = "+.1f" if signs else ".1f"
    text = f"{low:{form}} to {high:{form}}".replace("-", "−")
    return text if math.isfinite(low) else "–"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−") if math.isfinite(share) else "–"


def _p(value: float) -> str:
    if math.isnan(value):
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
