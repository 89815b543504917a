"""What a trained network says about many images, in large batches and evaluation mode."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from fidal.learning.feed import Feed
from fidal.learning.networks import Network
from fidal.learning.objectives.base import Companion, Objective

BATCH = 256


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
    for part in torch.split(rows, BATCH):
        said = network(feed.take(part))
        logits.append(said.logits)
        features.append(said.features)
        outputs.append(dict(objective.pool_outputs(said, companion)) if objective else {})
    names = outputs[0].keys() if outputs else ()
    return Inferred(
        torch.cat(logits),
        torch.cat(features),
        {name: torch.cat([part[name] for part in outputs]) for name in names},
    )
