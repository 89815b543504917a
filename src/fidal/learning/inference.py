"""What a trained network says about many images, in large batches and evaluation mode.

Not captured: at 512 images a launch costs a hundredth of what it starts.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from fidal.learning.feed import Feed, decode
from fidal.learning.networks import Network
from fidal.learning.objectives.base import Companion, Objective
from fidal.learning.precision import forward

BATCH: Final = 256
"""On a CPU."""
IMAGES, VECTORS = 512, 65_536
"""On a GPU."""


@dataclass(frozen=True, eq=False)
class Inferred:
    """One row per asked input."""

    logits: Tensor
    features: Tensor
    outputs: Mapping[str, Tensor]


@torch.no_grad()
def infer(
    network: Network,
    feed: Feed,
    rows: Tensor,
    objective: Objective | None = None,
    companion: Companion | None = None,
) -> Inferred:
    """Logits and features of these rows; the objective's outputs too if it is given."""
    network.eval()
    logits, features, outputs = [], [], []
    for batch in feed.batches(torch.split(rows, _size(feed))):
        said = forward(network, decode(batch))
        logits.append(said.logits)
        features.append(said.features)
        outputs.append(dict(objective.pool_outputs(said, companion)) if objective else {})
    names = outputs[0].keys() if outputs else ()
    return Inferred(
        torch.cat(logits),
        torch.cat(features),
        {name: torch.cat([part[name] for part in outputs]) for name in names},
    )


def _size(feed: Feed) -> int:
    if feed.device.type != "cuda":
        return BATCH
    return IMAGES if len(feed.shape) == 3 else VECTORS
