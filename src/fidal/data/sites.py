"""A benchmark cut into its sites."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidal.data.benchmark import TEST, TRAIN, Benchmark, PromptScores
from fidal.types import OUTLIER


@dataclass(frozen=True, eq=False)
class SiteData:
    """What one clinic owns. Rows index `inputs`; training rows are sorted by id."""

    site: str
    classes: tuple[str, ...]
    ids: tuple[str, ...]
    labels: NDArray[np.int64]
    """Ground truth; only the site's oracle and its evaluation look at it."""
    inputs: NDArray[np.uint8] | NDArray[np.float32]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    coverage: NDArray[np.float32] | None
    prompts: PromptScores | None
    since: NDArray[np.int64] | None = None
    """See `Manifest`."""


def site_data(benchmark: Benchmark, site: str) -> SiteData:
    """The rows of one site. In a test split only images with a class count."""
    manifest = benchmark.manifest
    own = np.flatnonzero(manifest.site == site)
    own = own[np.argsort(np.array(manifest.ids, dtype=str)[own], kind="stable")]
    split, labels = manifest.split[own], manifest.label[own]
    # Rows of one site in one piece stay a view of a memory-mapped file; others are copied.
    first, last = own.min(), own.max()
    whole = last - first + 1 == len(own) and bool((own == np.arange(first, last + 1)).all())
    pick = slice(int(first), int(last) + 1) if whole else own
    prompts = benchmark.prompts
    return SiteData(
        site=site,
        classes=manifest.classes,
        ids=tuple(manifest.ids[i] for i in own),
        labels=labels,
        inputs=benchmark.inputs[pick],
        train=np.flatnonzero(split == TRAIN),
        test=np.flatnonzero((split == TEST) & (labels > OUTLIER)),
        coverage=None if benchmark.coverage is None else benchmark.coverage[pick],
        prompts=None
        if prompts is None
        else PromptScores(prompts.logits[pick], prompts.in_distribution),
        since=None if manifest.since is None else manifest.since[own],
    )
