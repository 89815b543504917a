"""The contract of a pool: nothing that can be reached from it gives a candidate's label away."""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from fidal.checks.contract import require
from fidal.types import Pool

WORD = re.compile(r"[A-Za-z]+|\d+")


def check_secrecy(pool: Pool, truth: Tensor) -> None:
    """Raise a ContractError that names the place where `truth`, one label per candidate, stands.

    A column of numbers, or a word of the ids, gives labels away if it is one value for all
    candidates of a label and not the same for all labels. What a network computes from an image
    never is, however well it separates.
    """
    who, labels = f"pool of {pool.site}", truth.cpu().numpy()
    for path, x in _reachable(pool, "pool", set()):
        if len(x) == len(labels):
            for column in x.reshape(len(x), -1).T:
                require(not _gives_away(column, labels), who, f"tells the labels in {path}")
    words = [WORD.findall(name) for name in pool.ids]
    for place in range(min(map(len, words), default=0)):
        column = np.unique([word[place] for word in words], return_inverse=True)[1]
        require(not _gives_away(column, labels), who, "tells the labels in pool.ids")


def _gives_away(column: np.ndarray, labels: np.ndarray) -> bool:
    values = [column[labels == label] for label in np.unique(labels)]
    return all((v == v[0]).all() for v in values) and len({v[0].item() for v in values}) > 1


def _reachable(x: object, path: str, seen: set[int]) -> Iterator[tuple[str, np.ndarray]]:
    """Every array within fields, attributes, mappings and sequences, with the way to it."""
    if id(x) in seen or isinstance(x, str | bytes | torch.dtype | torch.device):
        return
    seen.add(id(x))
    if isinstance(x, Tensor | np.ndarray) and x.ndim:
        yield path, x.detach().cpu().numpy() if isinstance(x, Tensor) else x
    elif isinstance(x, Mapping):
        for key, value in x.items():
            yield from _reachable(value, f"{path}[{key!r}]", seen)
    elif isinstance(x, Sequence) and x and all(isinstance(v, bool | int | float) for v in x):
        yield path, np.array(x)
    elif isinstance(x, Sequence):
        for i, value in enumerate(x):
            yield from _reachable(value, f"{path}[{i}]", seen)
    for name, value in getattr(x, "__dict__", {}).items():
        yield from _reachable(value, f"{path}.{name}", seen)
