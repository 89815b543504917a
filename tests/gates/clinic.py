"""Embeddings of a made-up clinic: four classes in a correlated cloud, outliers far to one side."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fidal.gates import Gate, GateDecision


@dataclass(frozen=True)
class Clinic:
    candidates: Tensor
    labelled: Tensor
    labels: Tensor
    outliers: Tensor
    is_outlier: Tensor

    def decide(self, gate: Gate) -> GateDecision:
        return gate.decide(self.candidates, self.labelled, self.labels, self.outliers)

    def caught(self, decision: GateDecision) -> float:
        return float((~decision.keep[self.is_outlier]).double().mean())

    def lost(self, decision: GateDecision) -> float:
        return float((~decision.keep[~self.is_outlier]).double().mean())


def clinic(
    seed: int,
    ood_share: float,
    n: int = 1000,
    n_labelled: int = 100,
    n_outliers: int = 20,
    width: int = 32,
    distance: float = 20.0,
) -> Clinic:
    """`distance` is in standard deviations of the average coordinate."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, width + 1) ** -0.5
    mix = np.linalg.qr(rng.normal(size=(width, width)))[0] * spectrum / spectrum.mean()
    means, origin = rng.normal(size=(4, width)) * 0.7, rng.normal(size=width)
    away = rng.normal(size=width)
    away *= distance / np.linalg.norm(away)

    def draw(labels: np.ndarray) -> Tensor:
        z = origin + means[labels.clip(0)] + rng.normal(size=(len(labels), width)) @ mix.T
        return torch.from_numpy(z + away * (labels < 0)[:, None])

    truth = rng.integers(0, 4, n)
    truth[rng.permutation(n)[: round(ood_share * n)]] = -1
    known = rng.integers(0, 4, n_labelled)
    foreign = np.full(n_outliers, -1)
    is_outlier = torch.from_numpy(truth < 0)
    return Clinic(draw(truth), draw(known), torch.from_numpy(known), draw(foreign), is_outlier)
