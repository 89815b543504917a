"""What a study found, in words for people who read images, not curves. Honest if it is bad news."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fidal.report.comparing import difference, final_round, holm, rank, reference, rivals
from fidal.report.figures.radar import class_gaps
from fidal.report.frame import Study
from fidal.report.style import label, signed
from fidal.report.subgroups import FEW, NOT_RECORDED, Subgroup
from fidal.report.tables.cost import READING_SECONDS, hours
from fidal.report.tables.gates import has_gate, over_rounds


@dataclass(frozen=True)
class Finding:
    """A word to find it by, and one to three sentences."""

    about: str
    text: str


def summary(
    study: Study, seconds: float = READING_SECONDS, groups: Sequence[Subgroup] = ()
) -> list[Finding]:
    """All numbers are of the final round."""
    return [
        Finding("What was compared", _compared(study)),
        *_accuracy(study),
        *_time(study, seconds),
        *_classes(study),
        *_subgroups(study, groups),
        *_gate(study),
    ]


def _compared(study: Study) -> str:
    names = ", ".join(label(method) for method in study.main)
    budget: Any = study.runs[0].config.get("budget")
    each = f"{budget:g} images" if isinstance(budget, int) else "a part of its images"
    times = study.rounds[-1]
    seeds = len(study.seeds)
    often = "once" if seeds == 1 else f"{seeds} times with other random numbers"
    return (
        f"{_many(len(study.main), 'way')} of choosing which images of {len(study.sites)} sites an "
        f"expert looks at: {names}. Each site asked for {each} at random and then "
        f"{_many(times, 'more time')} by its method; a common model learned from the answers. "
        f"All of it {often}."
    )


def _accuracy(study: Study) -> Iterator[Finding]:
    base, others = reference(study), rivals(study)
    if not others:
        return
    round = final_round(study, base)
    best = rank(study, others)[0]
    own = 100 * study.spread(base, study.score(), round).mean
    other = 100 * study.spread(best, study.score(), round).mean
    if math.isnan(own) or math.isnan(other):
        yield Finding("Accuracy", f"There is no score to compare at round {round}.")
        return
    us, them = label(base), label(best)
    weighing = ", every class counting alike" if study.measure == "bma" else ""
    if own > other:
        text = (
            f"The model trained on what {us} chose recognises {own:.1f} % of the test images"
            f"{weighing}; the best other, {them}, reaches {other:.1f} %, "
            f"{own - other:.1f} points less."
        )
    else:
        text = (
            f"{us} does not come first: it reaches {own:.1f} % of the test images recognised"
            f"{weighing}; {them} reaches {other:.1f} %, {other - own:.1f} points more."
        )
    yield Finding("Accuracy", f"{text} {_certainty(study, best)}")


def _certainty(study: Study, best: str) -> str:
    """Of the gap to one rival, corrected for having looked at all of them."""
    base = reference(study)
    round = final_round(study, base)
    others = rivals(study)
    ours = study.values(base, study.score())[:, round]
    gaps = [difference(ours, study.values(m, study.score())[:, round]) for m in others]
    p = holm([gap.p for gap in gaps])[others.index(best)]
    gap = gaps[others.index(best)]
    if gap.pairs < 2:
        return "One repetition cannot tell whether that is more than chance."
    looks = _many(len(others), "comparison")
    test = f"paired test over {gap.pairs} repetitions, corrected for {looks}"
    if p < 0.05:
        return f"That is more than chance explains (p = {p:.3f}; {test})."
    return f"Chance is not ruled out as the reason (p = {p:.3f}; {test})."


def _time(study: Study, seconds: float) -> Iterator[Finding]:
    base = reference(study)
    round = final_round(study, base)
    wasted = {m: 100 * (1 - study.spread(m, "purity", round).mean) for m in study.main}
    if math.isnan(wasted[base]):
        return
    there = [method for method in study.main if not math.isnan(wasted[method])]
    others = _listed({m: wasted[m] for m in there if m != base})
    text = (
        f"Of 100 images put before the experts, {label(base)} wasted {wasted[base]:.0f} on images "
        f"that do not belong there{f'; the others: {others}' if others else ''}."
    )
    more = _against_random(study, round, seconds) + _purest(study, wasted)
    yield Finding("Expert time", text + more)


def _listed(wasted: dict[str, float]) -> str:
    """All of a few; of many the least and the most."""
    if len(wasted) <= 5:
        return ", ".join(f"{label(method)} {number:.0f}" for method, number in wasted.items())
    least, most = min(wasted, key=wasted.__getitem__), max(wasted, key=wasted.__getitem__)
    return f"from {wasted[least]:.0f} ({label(least)}) to {wasted[most]:.0f} ({label(most)})"


def _against_random(study: Study, round: int, seconds: float) -> str:
    base = reference(study)
    chance = next((m for m in study.main if study.strategy(m) == "random" and m != base), None)
    if chance is None:
        return ""
    saved = (
        study.spread(chance, "outliers", round).mean - study.spread(base, "outliers", round).mean
    )
    if math.isnan(saved):
        return ""
    time = f"{hours(abs(saved), seconds):.1f} hours at {seconds:g} s an image"
    if saved > 0:
        return f" Against choosing at random that is {saved:,.0f} wasted images fewer, {time}."
    return f" That is no saving: {-saved:,.0f} wasted images more than at random, {time}."


def _purest(study: Study, wasted: dict[str, float]) -> str:
    """Where another method wastes less, it is said, with what it costs."""
    base = reference(study)
    purer = [m for m in rivals(study) if wasted[m] < wasted[base] - 0.5]
    if not purer:
        return ""
    least = min(purer, key=lambda method: wasted[method])
    round = final_round(study, base)
    gap = 100 * (
        study.spread(least, study.score(), round).mean
        - study.spread(base, study.score(), round).mean
    )
    return f" {label(least)} wasted fewer still, with {signed(gap)} points of accuracy."


def _classes(study: Study) -> Iterator[Finding]:
    gaps = class_gaps(study)
    if len(study.classes) < 3 or not np.isfinite(gaps).any():
        return
    most, least = int(np.nanargmax(gaps)), int(np.nanargmin(gaps))
    leads, known = int((gaps > 0).sum()), int(np.isfinite(gaps).sum())
    yield Finding(
        "Single classes",
        f"{label(reference(study))} recognises {leads} of {known} classes better than the best "
        f"other method for each. Largest lead: {study.classes[most]} ({signed(gaps[most])} "
        f"points); at the other end: {study.classes[least]} ({signed(gaps[least])}).",
    )


def _subgroups(study: Study, groups: Sequence[Subgroup]) -> Iterator[Finding]:
    """The widest gap that the reference leaves between two groups that have enough images."""
    base = reference(study)
    widest: tuple[float, Subgroup, Subgroup] | None = None
    for column in dict.fromkeys(group.column for group in groups):
        own = [g for g in groups if g.column == column and not g.few and g.value != NOT_RECORDED]
        fullest = max((g.classes for g in own), default=0)  # groups of fewer have another task
        known = [g for g in own if g.classes == fullest and math.isfinite(g.scores[base].mean)]
        if len(known) < 2:
            continue
        low, high = (end(known, key=lambda g: g.scores[base].mean) for end in (min, max))
        gap = 100 * (high.scores[base].mean - low.scores[base].mean)
        if widest is None or gap > widest[0]:
            widest = gap, low, high
    if widest is None:
        return
    gap, low, high = widest
    yield Finding(
        "Whom it serves",
        f"The widest gap between two subgroups is {gap:.1f} points, by {low.column}: "
        f"{100 * low.scores[base].mean:.1f} % for {low.value} ({_many(low.images, 'test image')}), "
        f"{100 * high.scores[base].mean:.1f} % for {high.value} "
        f"({_many(high.images, 'test image')}). Groups of fewer than {FEW} images "
        "or of fewer classes are left out.",
    )


def _gate(study: Study) -> Iterator[Finding]:
    base = reference(study)
    if not has_gate(study, base):
        return
    caught = _over_sites(study, "gate.true_recall")
    lost = _over_sites(study, "gate.true_id_loss")
    if not caught or not lost:
        return
    worst = min(caught, key=lambda site: caught[site])
    costly = max(lost, key=lambda site: lost[site])
    most = f" and lost most at {costly} ({lost[costly]:.0f})" if lost[costly] >= 0.5 else ""
    yield Finding(
        "The gate",
        f"Before anything was ranked, it refused {np.mean(list(caught.values())):.0f} of 100 "
        f"foreign images and, wrongly, {np.mean(list(lost.values())):.0f} of 100 that belong "
        f"(mean of sites and rounds). It caught least at {worst} ({caught[worst]:.0f}){most}.",
    )


def _over_sites(study: Study, key: str) -> dict[str, float]:
    base = reference(study)
    means = {site: over_rounds(study.values(base, key, site)).mean for site in study.sites}
    return {site: 100 * mean for site, mean in means.items() if not math.isnan(mean)}


def _many(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
