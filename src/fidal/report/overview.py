"""What several settings of one benchmark say together, in a sentence or two."""

from collections.abc import Sequence

from fidal.report.comparing import final_round, rank, reference, rivals
from fidal.report.frame import Study
from fidal.report.style import label, signed
from fidal.report.summary import Finding


def over_settings(studies: Sequence[Study]) -> Finding | None:
    """How often the reference comes first, and how far its lead and its purity range."""
    leads: list[float] = []
    purer: list[bool] = []
    for study in studies:
        base, others = reference(study), rivals(study)
        if not others or base != reference(studies[0]):
            continue
        round = final_round(study, base)
        ours, best = (
            study.spread(method, study.score(), round).mean
            for method in (base, rank(study, others)[0])
        )
        leads += [100 * (ours - best)] if ours == ours and best == best else []
        own = study.spread(base, "purity", round).mean
        theirs = [study.spread(method, "purity", round).mean for method in others]
        purer.append(not any(purity >= own for purity in theirs))  # NaN is no purity
    if len(leads) < 2:
        return None
    us = label(reference(studies[0]))
    first = sum(lead > 0 for lead in leads)
    return Finding(
        "All settings",
        f"In {first} of {len(leads)} settings {us} has the best score of the last round; its "
        f"distance to the best other method goes from {signed(min(leads))} to "
        f"{signed(max(leads))} points. It wastes the fewest images in {sum(purer)} of "
        f"{len(purer)}.",
    )
