"""What `selection.py` measures. A case gets the arrays and returns the thing to be timed.

ours/NAME            every strategy of fidal, with its defaults
scikit-activeml/NAME the same strategy there, where there is one
plain/products       FIDAL's bare matrix products: U x L and U x (U and L), in blocks, no more
plain/walk           FEAL's relaxation with a similarity row and a full sort per candidate visited
"""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import selection_arrays as arrays
import torch

from fidal.neighbours.similarity import unit
from fidal.strategies import STRATEGIES
from fidal.types import Pool

Run = Callable[[], object]
BLOCK = 1024


def prepare(case: str, folder: Path, budget: int, device: str, first: int | None = None) -> Run:
    """The timed part of `case` on all candidates, or on the `first` to get warm."""
    kind, name = case.split("/")
    pool = arrays.read(folder, device, first)
    budget = min(budget, len(pool.ids) // 2)
    if kind == "ours":
        strategy = STRATEGIES[name]()
        return lambda: strategy.select(pool, budget, np.random.default_rng(0))
    if kind == "scikit-activeml":
        return _peer(name, pool, np.load(folder / "weight.npy"), budget)
    return {"products": _products, "walk": _walk}[name](pool, budget)


def _products(pool: Pool, budget: int) -> Run:
    candidates, labelled = pool.features, pool.labelled.features
    everyone = torch.cat([candidates, labelled])

    def run() -> None:
        for references in (labelled, everyone):
            memory = candidates.new_empty(BLOCK, len(references))
            for block in torch.split(candidates, BLOCK):
                torch.mm(block, references.T, out=memory[: len(block)])

    return run


def _walk(pool: Pool, budget: int) -> Run:
    """FEAL's second stage as it is described, rows normalised once; its first stage goes before."""
    feal = STRATEGIES["feal"]()
    ranking = feal.select(pool, len(pool.ids), np.random.default_rng(0)).scores["uncertainty"]
    order = torch.sort(ranking, descending=True, stable=True).indices.tolist()
    features = pool.outputs["spatial"]

    def run() -> list[int]:
        x, taken = unit(features), dict[int, None]()
        for i in order:
            if len(taken) == budget:
                break
            similarity = x @ x[i]
            near = torch.argsort(similarity, descending=True)[1:6]
            crowd = near[similarity[near] > 0.85].tolist()
            if len(crowd) < 5 or taken.keys().isdisjoint(crowd):
                taken[i] = None
        return list(taken)

    return run


def _peer(name: str, pool: Pool, weight: arrays.Floats, budget: int) -> Run:
    warnings.simplefilter("ignore")
    from skactiveml import pool as peers
    from skactiveml.classifier import SklearnClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class NearestMean(ClassifierMixin, BaseEstimator):
        """The model whose logits are in the pool, so that both see the same probabilities."""

        def fit(self, X: arrays.Floats, y: object) -> "NearestMean":
            self.classes_ = np.arange(arrays.CLASSES)
            return self

        def predict_proba(self, X: arrays.Floats) -> arrays.Floats:
            raw = np.exp(X @ weight - (X @ weight).max(1, keepdims=True))
            return raw / raw.sum(1, keepdims=True)

    x = np.concatenate([pool.features.numpy(), pool.labelled.features.numpy()])
    y = np.full(len(x), np.nan)
    y[len(pool.ids) :] = pool.labelled.labels.numpy()
    model = SklearnClassifier(NearestMean(), classes=np.arange(arrays.CLASSES)).fit(x, y)
    given = {"clf": model, "fit_clf": False}
    strategy, more = {
        "random": (peers.RandomSampling(random_state=0), {}),
        "entropy": (peers.UncertaintySampling(method="entropy", random_state=0), given),
        "margin": (peers.UncertaintySampling(method="margin_sampling", random_state=0), given),
        "badge": (peers.Badge(random_state=0), given),
        "coreset": (peers.CoreSet(random_state=0), {}),
        "typiclust": (peers.TypiClust(random_state=0), {}),
        "herding": (peers.MaxHerding(random_state=0), {}),
    }[name]
    return lambda: strategy.query(x, y, batch_size=budget, **more)
