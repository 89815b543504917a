"""The arrays that every case of `selection.py` runs on: made once, written down, read by each."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from fidal.types import Labelled, Outliers, Pool, Prompts

CLASSES = 8
CLUMPS = 6
"""Clumps per class, of very different sizes, so that there are dense and rare regions."""
OUTLIER_SHARE = 0.3

Floats = NDArray[np.floating]


def write(folder: Path, candidates: int, labelled: int, width: int, seed: int = 0) -> None:
    """Unit float32 rows: rectified Gaussian clumps of eight classes, and outliers of a ninth kind.

    The class of a candidate is used to draw it and then forgotten.
    """
    rng = np.random.default_rng(seed)
    counts = {"u": candidates, "id": labelled, "ood": labelled // 2}
    for space in ("features", "coverage"):
        clumps = 0.5 * rng.standard_normal((CLASSES + 1, 1, width)) + rng.standard_normal(
            (CLASSES + 1, CLUMPS, width)
        )
        spread = rng.standard_normal((24, width)) / 8
        for part, n in counts.items():
            kinds = np.random.default_rng((seed, n)).permutation(_kinds(part, n))
            np.save(folder / f"{space}-{part}.npy", _rows(kinds, clumps, spread, rng))
            np.save(folder / f"kinds-{part}.npy", kinds)
    features = np.load(folder / "features-u.npy")
    known, kinds = np.load(folder / "features-id.npy"), np.load(folder / "kinds-id.npy")
    means = np.stack([known[kinds == c].mean(0) for c in range(CLASSES)])
    weight = (
        30 * (means - means.mean(0)).T
    )  # a nearest-mean classifier, about as sure as a real one
    np.save(folder / "weight.npy", weight.astype(np.float32))
    noisy = weight + rng.standard_normal(weight.shape) * np.abs(weight).mean()
    np.save(folder / "local-weight.npy", noisy.astype(np.float32))
    heads = {"detector": 9, "meta": 9, "binary": 16, "open": 18, "weight": 1, "prompts": 16}
    for name, columns in heads.items():
        logits = features @ rng.standard_normal((width, columns), dtype=np.float32)
        np.save(folder / f"head-{name}.npy", logits)


def _kinds(part: str, n: int) -> NDArray[np.int64]:
    if part == "ood":
        return np.full(n, CLASSES)
    outliers = int(OUTLIER_SHARE * n) if part == "u" else 0
    return np.concatenate([np.arange(n - outliers) % CLASSES, np.full(outliers, CLASSES)])


def _rows(
    kinds: NDArray[np.int64], clumps: Floats, spread: Floats, rng: np.random.Generator
) -> Floats:
    share = 0.5 ** np.arange(CLUMPS)
    clump = rng.choice(CLUMPS, len(kinds), p=share / share.sum())
    out = np.empty((len(kinds), clumps.shape[-1]), dtype=np.float32)
    for rows in np.array_split(np.arange(len(kinds)), max(1, len(kinds) // 5000)):
        x = clumps[kinds[rows], clump[rows]] + rng.standard_normal((len(rows), 24)) @ spread
        x = np.maximum(x + 0.2 * rng.standard_normal(x.shape), 0)
        out[rows] = x / np.linalg.norm(x, axis=1, keepdims=True)
    return out


def read(folder: Path, device: str = "cpu", first: int | None = None) -> Pool:
    """The pool, or its `first` candidates, with as many labelled and outliers."""

    def load(name: str) -> torch.Tensor:
        return torch.from_numpy(np.load(folder / f"{name}.npy")[:first].copy()).to(device)

    features, known = load("features-u"), load("features-id")
    weight = torch.from_numpy(np.load(folder / "weight.npy")).to(device)
    local_weight = torch.from_numpy(np.load(folder / "local-weight.npy")).to(device)
    return Pool(
        site="benchmark",
        round=1,
        ids=tuple(f"{i:07d}" for i in range(len(features))),
        global_logits=features @ weight,
        local_logits=features @ local_weight,
        features=features,
        global_features=features,
        coverage=load("coverage-u"),
        labelled=Labelled(known, load("kinds-id"), load("coverage-id"), known),
        outliers=Outliers(load("features-ood"), load("coverage-ood")),
        prompts=Prompts(load("head-prompts"), (True,) * 8 + (False,) * 8),
        outputs={
            **{name: load(f"head-{name}") for name in ("detector", "meta", "binary", "open")},
            "weight": torch.sigmoid(load("head-weight")),
            "spatial": features,
        },
    )
