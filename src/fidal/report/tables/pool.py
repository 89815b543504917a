"""What the sites' pools are made of (Tables S1 and S2)."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from fidal.data.benchmark import TRAIN, Manifest
from fidal.report.frame import Study
from fidal.report.paper import ALL, pool_outliers
from fidal.report.tables.table import Column, Line, Table, Value
from fidal.types import OUTLIER


def pool(study: Study, manifest: Manifest | None = None) -> Table:
    """Images and OOD share per site before the first query; by kind where a manifest tells it."""
    kinds = _kinds(manifest) if manifest else []
    lines = []
    for site in study.sites:
        images, share = _first(study, "candidates", site), _first(study, "pool_ood_share", site)
        counts = _counts(manifest, site) if manifest else Counter()
        outliers = images * share
        own: list[Value] = [int(counts[kind]) for kind in kinds]
        lines.append(Line((site, images, images - outliers, outliers, share, *own)))
    theirs = _in_the_paper(study.benchmark, kinds)
    return Table(
        name="pool-composition",
        title="Composition of the pools",
        caption=(
            f"{study.name}. Training images of each site before the first query, and how many of "
            "them do not belong (OOD), which only a benchmark knows. A purely random choice is as "
            "pure as the pool."
            + (" In the paper: its Tables S1 and S2, on its own images." if theirs else "")
        ),
        columns=(
            Column("Site"),
            Column("Images", digits=0),
            Column("ID", digits=0),
            Column("OOD", digits=0),
            Column("OOD share (%)", scale=100),
            *(Column(f"OOD: {kind}") for kind in kinds),
        ),
        lines=(*lines, *theirs),
    )


def _in_the_paper(benchmark: str, kinds: Sequence[str]) -> list[Line]:
    """Known outliers of its sites, under its names of sites; of the kinds that are also ours."""
    lines = []
    for site, counts in pool_outliers(benchmark).items():
        total = counts[ALL]
        own: list[Value] = [counts[k].images if k in counts else "–" for k in kinds]
        share: Value = "–" if total.share is None else total.share
        cells = (f"{site}, in the paper", "–", "–", total.images, share, *own)
        lines.append(Line(cells, ranked=False))
    return lines


def _first(study: Study, key: str, site: str) -> float:
    """The warm-up's candidates are the whole pool, the same under every method."""
    values = np.concatenate([study.values(method, key, site)[:, 0] for method in study.methods])
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else float("nan")


def _kinds(manifest: Manifest) -> list[str]:
    kinds = manifest.columns.get("kind")
    if kinds is None:
        return []
    return sorted({str(kind) for kind in kinds[manifest.label == OUTLIER].tolist()})


def _counts(manifest: Manifest, site: str) -> Counter[str]:
    own = (manifest.site == site) & (manifest.label == OUTLIER) & (manifest.split == TRAIN)
    kinds = manifest.columns.get("kind")
    return Counter() if kinds is None else Counter(kinds[own].tolist())
