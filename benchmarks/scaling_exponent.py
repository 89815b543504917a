"""How seconds grow with size."""

from collections.abc import Sequence

import numpy as np


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Slope of log seconds over log size, by least squares over the upper half of the range."""
    upper = slice(len(sizes) // 2 - (len(sizes) < 4), None)
    return float(np.polyfit(np.log(sizes[upper]), np.log(seconds[upper]), 1)[0])
