"""Differential privacy of the global weights, by Flower's own wrapper and accountant.

Central and per site: every site's update is scaled down to a length, the mean of the updates gets
Gaussian noise, and the accountant adds up what the releases so far tell about any one site. It
protects against those who see the global weights. The coordinator itself sees single updates.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, cast

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.exception import PrivacyBudgetExhausted
from flwr.serverapp.strategy import DifferentialPrivacyServerSideFixedClipping, FedAvg
from flwr.supercore.privacy_accounting import (
    NeighboringRelation,
    PrivacyConfig,
    SamplingMethod,
)
from flwr.supercore.privacy_accounting.rdp_accountant import RdpAccountant

from fidal.federation.engine import FederationError
from fidal.federation.messages import TensorSpec, TrainReply, Weights
from fidal.federation.weights import check
from fidal.storage import write_atomic

WEIGHTS: Final = "weights"

SMALLEST_VARIANCE: Final = 1e-5
"""Noise makes a running variance of batch normalisation negative, whose root would be NaN."""


class PrivateAverage:
    """An `Average`. What was spent is written to `path` before the weights are given out, so that a
    kill in between counts a release that nobody saw, and never misses one.
    """

    def __init__(
        self, noise: float, clip: float, delta: float, most: float | None, sites: int, path: Path
    ) -> None:
        self._noise, self._clip, self._path = noise, clip, path
        self._accountant = RdpAccountant(
            PrivacyConfig(
                target_delta=delta,
                population_size=sites,
                neighboring_relation=NeighboringRelation.ADD_OR_REMOVE_ONE,
                sampling_method=SamplingMethod.NO_AMPLIFICATION,
                max_epsilon=most,
            )
        )
        if path.exists():
            self._accountant.load_state_dict(json.loads(path.read_text()))

    def __call__(self, replies: Sequence[TrainReply], fallback: Weights) -> Weights:
        """See `Average`. Sites count equally; one without labelled images has no update to hide."""
        behind = sorted((r for r in replies if r.n_labelled > 0), key=lambda r: r.site)
        if not behind:
            return fallback
        for reply in behind:
            check(reply.weights, against=fallback.specs)
        mean = self._release(behind, fallback)
        write_atomic(self._path, json.dumps(self._accountant.state_dict()).encode())
        return Weights(fallback.specs, _with_variances(mean, fallback.specs))

    def spent(self) -> dict[str, float]:
        """Epsilon at the delta that was chosen, over all releases so far."""
        spent = self._accountant.get_privacy_spent()
        return {"epsilon": spent.epsilon, "delta": spent.delta, "releases": spent.num_releases}

    def _release(self, replies: Sequence[TrainReply], sent: Weights) -> torch.Tensor:
        n, number = len(replies), self._accountant.num_releases
        inner = FedAvg(min_train_nodes=n, min_available_nodes=n)
        strategy = DifferentialPrivacyServerSideFixedClipping(
            inner, self._noise, self._clip, n, accountant=self._accountant
        )
        grid = cast(Grid, _Nodes(n))  # Flower's strategies send; ours were sent by the engine
        try:
            asked = strategy.configure_train(number, _record(sent), ConfigRecord(), grid)
        except PrivacyBudgetExhausted as error:
            raise FederationError(
                f"privacy.most: one more release would cost more epsilon than that; {number} were "
                "made, and the last saved round stands"
            ) from error
        answers = [_answer(*pair) for pair in zip(asked, replies, strict=True)]
        arrays, _ = strategy.aggregate_train(number, answers)
        assert arrays is not None
        return torch.from_numpy(np.array(arrays[WEIGHTS].numpy(), dtype=np.float32))


class _Nodes:
    """As many as there are replies."""

    def __init__(self, n: int) -> None:
        self._n = n

    def get_node_ids(self) -> Iterable[int]:
        return range(1, self._n + 1)


def _record(weights: Weights) -> ArrayRecord:
    return ArrayRecord({WEIGHTS: Array(weights.flat.detach().cpu().numpy())})


def _answer(asked: Message, reply: TrainReply) -> Message:
    content = RecordDict({"arrays": _record(reply.weights)})
    content["metrics"] = MetricRecord({"num-examples": 1})
    return Message(content, reply_to=asked)


def _with_variances(flat: torch.Tensor, specs: tuple[TensorSpec, ...]) -> torch.Tensor:
    start = 0
    for spec in specs:
        if spec.name.endswith("running_var"):
            flat[start : start + spec.size].clamp_(min=SMALLEST_VARIANCE)
        start += spec.size
    return flat
