"""A network's state as one flat array: packed, checked, unpacked, fingerprinted."""

import hashlib
from collections.abc import Mapping

import torch
from torch import Tensor

from fidal.federation.messages import TensorSpec, Weights


def manifest(state: Mapping[str, Tensor]) -> tuple[TensorSpec, ...]:
    """What the tensors are called and how large they are, in their order."""
    return tuple(
        TensorSpec(name, tuple(x.shape), str(x.dtype).removeprefix("torch."))
        for name, x in state.items()
    )


def pack(state: Mapping[str, Tensor]) -> Weights:
    """All parameters and buffers, batch-norm statistics and counters included, as float32."""
    parts = [x.detach().reshape(-1).to(torch.float32) for x in state.values()]
    return Weights(manifest(state), torch.cat(parts) if parts else torch.zeros(0))


def unpack(weights: Weights) -> dict[str, Tensor]:
    """The inverse of `pack`. Integers are rounded: an average of counters is no integer."""
    check(weights)
    state, start = {}, 0
    for spec in weights.specs:
        size = spec.size
        x = weights.flat[start : start + size].reshape(spec.shape)
        dtype: torch.dtype = getattr(torch, spec.dtype)
        state[spec.name] = x.to(dtype) if dtype.is_floating_point else x.round().to(dtype)
        start += size
    return state


class WeightsError(ValueError):
    """Weights that can't be taken; the text tells names of tensors and counts, nothing else."""


def check(weights: Weights, against: tuple[TensorSpec, ...] | None = None) -> None:
    """Raise a `WeightsError` unless the array has the size its manifest says and is finite.

    `against` is the manifest of the receiver's own network: a site takes no other.
    """
    need = sum(spec.size for spec in weights.specs)
    if weights.flat.ndim != 1 or len(weights.flat) != need:
        raise WeightsError(
            f"weights: {tuple(weights.flat.shape)} values where the manifest has {need}"
        )
    if against is not None and weights.specs != against:
        ours, theirs = {s.name: s for s in against}, {s.name: s for s in weights.specs}
        odd = [k for k in {**ours, **theirs} if ours.get(k) != theirs.get(k)]
        first = f", first '{odd[0]}'" if odd else ", in their order"
        raise WeightsError(f"weights: another network; {len(odd)} tensors differ{first}")
    if not bool(torch.isfinite(weights.flat.sum(dtype=torch.float64))):
        raise WeightsError("weights: NaN or infinite values")


def digest(weights: Weights) -> str:
    """SHA-256 over manifest and values."""
    found = hashlib.sha256(repr(weights.specs).encode())
    found.update(weights.flat.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()
