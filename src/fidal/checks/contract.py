"""What a broken contract says, and what both contracts look at."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor

T = TypeVar("T")

AGREEMENT = 0.9
"""Share of a query that must agree between precisions and devices: rounding may flip near-ties."""


class ContractError(AssertionError):
    """A strategy or gate does something that the house relies on it not doing."""


def require(holds: bool, who: str, what: str) -> None:
    """Raise a ContractError that names the culprit unless `holds`."""
    if not holds:
        raise ContractError(f"'{who}' {what}")


def tensors(x: object) -> Iterator[Tensor]:
    """Every tensor within nested dataclasses and mappings, always in the same order."""
    if isinstance(x, Tensor):
        yield x
    elif is_dataclass(x) and not isinstance(x, type):
        for f in fields(x):
            yield from tensors(getattr(x, f.name))
    elif isinstance(x, Mapping):
        for value in x.values():
            yield from tensors(value)


def moved(x: T, **to: torch.dtype | torch.device | str) -> T:
    """The same nested dataclass with floating tensors of another type, or all on a device."""
    if isinstance(x, Tensor):
        target = (
            dict(to) if x.is_floating_point() else {k: v for k, v in to.items() if k != "dtype"}
        )
        return x.to(**target) if target else x  # type: ignore[call-overload]
    if isinstance(x, Mapping):
        return {k: moved(v, **to) for k, v in x.items()}  # type: ignore[return-value]
    if is_dataclass(x) and not isinstance(x, type):
        return replace(x, **{f.name: moved(getattr(x, f.name), **to) for f in fields(x)})
    return x


def shared(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """Share of the ids of two queries of one length that stand in both; 1 for empty ones."""
    return len(set(a) & set(b)) / len(a) if a else 1.0
