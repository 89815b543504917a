"""The names in torchvision's DenseNet files of 2017, turned into today's.

A dot stood between a layer and its number, `norm.1`; torchvision and timm both write `norm1` now.
"""

import re
from collections.abc import Mapping
from typing import Final

from torch import Tensor

OLD: Final = re.compile(r"(\.denselayer\d+\.(?:norm|conv))\.(\d)\.")


def renamed(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The state in today's names; other networks' names stay as they are."""
    return {OLD.sub(r"\1\2.", name): tensor for name, tensor in state.items()}
