"""A checkpoint fits a network name by name and shape by shape, or is refused."""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from fidal.checkpoints.files import CheckpointError

SHOWN = 3


def fill(
    model: nn.Module,
    state: Mapping[str, Tensor],
    what: str,
    may_stay: Callable[[str], bool] = lambda name: False,
    way_out: str = "is it another architecture?",
) -> None:
    """Copy `state` into the model. Names that `may_stay` holds true of are left in the file.

    `what` opens the error message, which counts what does not fit and names the first of it;
    `way_out` ends it.
    """
    own = model.state_dict()
    missing = sorted(own.keys() - state.keys())
    unexpected = sorted(name for name in state.keys() - own.keys() if not may_stay(name))
    shapes = [
        f"{name} {tuple(state[name].shape)} for {tuple(tensor.shape)}"
        for name, tensor in own.items()
        if name in state and state[name].shape != tensor.shape
    ]
    findings = [
        f"{len(names)} {word} (first {_first(names)})"
        for names, word in (
            (missing, "names missing"),
            (unexpected, "names unexpected"),
            (shapes, "of another shape"),
        )
        if names
    ]
    if findings:
        raise CheckpointError(f"{what}: {'; '.join(findings)}; {way_out}")
    wrong = [name for name in own if not bool(torch.isfinite(state[name]).all())]
    if wrong:
        raise CheckpointError(
            f"{what}: {len(wrong)} of {len(own)} tensors hold NaN or infinite values (first "
            f"{_first(wrong)}); the file is damaged or its training failed: fetch it again"
        )
    model.load_state_dict({name: state[name] for name in own})


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:SHOWN])
