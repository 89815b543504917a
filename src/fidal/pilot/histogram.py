"""The distribution of G, in counts and as one line of text."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from fidal.pilot.trials import SiteTrials

BARS: Final = " ▁▂▃▄▅▆▇█"
BINS: Final = 40


def histogram(site: SiteTrials, density: str) -> Sequence[int]:
    """Candidates by their G, in equal bins of [0, 1]."""
    G = site.signals[density].G.cpu().numpy()
    return [int(n) for n in np.histogram(G, BINS, (0, 1))[0]]


def drawn(counts: Sequence[int]) -> str:
    """A histogram of one line of text; square roots, so that a small mode is seen.

    >>> drawn([0, 1, 4, 16])
    ' ▂▄█'
    """
    highest = max(1, *counts) ** 0.5
    return "".join(BARS[round((len(BARS) - 1) * n**0.5 / highest)] for n in counts)
