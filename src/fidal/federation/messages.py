"""All that may cross the wire between a site and the coordinator. There is nothing else.

A request goes from the coordinator to a site, a reply comes back. The fields below are the privacy
contract: one flat array of weights with its manifest, counts, and scalar metrics. No image, no
feature, no label of a single image, no image id, no path. `tests/federation/test_messages.py`
holds this list against what a site really sends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:  # what only forwards messages starts without torch
    from torch import Tensor


@dataclass(frozen=True)
class Stamp:
    """Goes with every message between machines: both ends run the same program on the same plan."""

    wire: int
    """Version of the encoding, see `codec`."""
    version: str
    """Of fidal."""
    setup: str
    """`Experiment.digest`."""


@dataclass(frozen=True)
class TensorSpec:
    """One named tensor of a network within the flat array."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """Its type in the network, e.g. "float32"; in the flat array all are float32."""

    @property
    def size(self) -> int:
        """How many values it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, eq=False)
class Weights:
    """A network's parameters and buffers: one flat float32 array in the order of `specs`."""

    specs: tuple[TensorSpec, ...]
    flat: Tensor


@dataclass(frozen=True, eq=False)
class TrainRequest:
    """Train from these weights; communication round `step` of `steps` in this AL round."""

    federation: str
    round: int
    step: int
    steps: int
    weights: Weights


@dataclass(frozen=True, eq=False)
class TrainReply:
    """The site's weights after its local epochs, and how many labelled ID images stand behind."""

    site: str
    weights: Weights
    n_labelled: int
    loss: float
    """Mean training loss of the last local epoch; NaN if nothing could be trained."""


@dataclass(frozen=True, eq=False)
class QueryRequest:
    """Choose what an expert shall look at in this round, by these global weights."""

    federation: str
    round: int
    budget: int
    weights: Weights | None
    """None asks for the shared random warm-up."""
    trained: bool = True
    """Did the site take part in the training that ended in these weights? If not, the global model
    stands for its own."""


@dataclass(frozen=True)
class GateReport:
    """What the gate did, in numbers. Recall and loss on the whole pool exist in benchmarks only."""

    rejected: float
    cut: float
    separation: float
    ood_share: float | None
    auroc: float | None
    recall: float | None
    id_loss: float | None
    true_recall: float | None = None
    true_id_loss: float | None = None


@dataclass(frozen=True)
class QueryReply:
    """Counts of one query: what was asked, and what the answers were so far."""

    site: str
    round: int
    candidates: int
    asked: int
    answered: int
    answered_id: int
    answered_ood: int
    labelled: int
    """Labelled ID images at the site, all rounds together."""
    outliers: int
    """Images answered "does not belong here", all rounds together."""
    filled: int
    """Asked although refused by the gate, to use up the budget."""
    gate: GateReport | None
    pool_ood_share: float | None
    """True share of outliers among the candidates; benchmarks only."""


@dataclass(frozen=True, eq=False)
class EvaluateRequest:
    """Evaluate these weights on the site's own test images."""

    federation: str
    round: int
    weights: Weights


@dataclass(frozen=True)
class EvaluateReply:
    """Counts: `confusion[true][predicted]`, and the calibration error and mean cross-entropy on the
    site's test images, NaN if it has none.
    """

    site: str
    round: int
    confusion: tuple[tuple[int, ...], ...]
    calibration_error: float
    loss: float


@dataclass(frozen=True)
class StatusRequest:
    """How far is the site with the worklist of this round?"""

    federation: str
    round: int


@dataclass(frozen=True)
class StatusReply:
    """Counts of the site's ledger: this round's worklist, then all rounds together."""

    site: str
    round: int
    images: int
    """In the site's training data."""
    asked: int
    answered: int
    answered_id: int
    answered_ood: int
    labelled: int
    outliers: int


Trouble = Literal["again", "absent", "refused", "failed"]
"""again: it has lost this round's training, which must begin anew. absent: it was not heard of in
time. refused: it does not do this. failed: it tried."""


@dataclass(frozen=True)
class Failure:
    """In place of a reply. `reason` holds no path, id or file name."""

    site: str
    reason: str
    trouble: Trouble = "failed"


Request = TrainRequest | QueryRequest | EvaluateRequest | StatusRequest
Reply = TrainReply | QueryReply | EvaluateReply | StatusReply | Failure
