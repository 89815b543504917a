"""All variants of the strategies that ran with more than one set of parameters."""

from dataclasses import replace

from fidal.report.frame import Study
from fidal.report.tables.headline import headline
from fidal.report.tables.table import Table


def variants(study: Study) -> Table | None:
    """The final round of each variant; None if every strategy ran in one."""
    strategies = [study.strategy(method) for method in study.methods]
    several = [m for m, s in zip(study.methods, strategies, strict=True) if strategies.count(s) > 1]
    if not several:
        return None
    return replace(
        headline(study, "final", several),
        name="variants",
        title="Variants of a strategy at the final round",
    )
