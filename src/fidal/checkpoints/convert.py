"""The weights out of a file that also holds objects of its authors' program, without running any.

A PyTorch file is a pickle: to rebuild an object, Python calls what the file names. PyTorch's own
restricted reader builds tensors and plain containers and stops at any other name. Here each such
name stands for `Inert` instead, which takes whatever it is given and does nothing, so the reader
gets to the end: configurations, schedulers and numpy scalars become empty shells, and no code that
the file names is imported or called. That is why nobody is asked to trust the file.
"""

import pickle
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from safetensors.torch import save
from torch import Tensor
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from fidal.checkpoints.files import CheckpointError, find, tensors_in
from fidal.storage import write_atomic

SHOWN: Final = 5


class Inert:
    """The place of an object that was not built."""

    def __new__(cls, *args: object, **kwargs: object) -> "Inert":  # noqa: D102
        return super().__new__(cls)

    def __init__(self, *args: object, **kwargs: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        pass


@dataclass(frozen=True)
class Contents:
    """What a file holds."""

    weights: dict[str, Tensor]
    shells: tuple[str, ...]
    """Names of what was not built."""

    @property
    def size(self) -> int:
        """Bytes of the weights."""
        return sum(tensor.nbytes for tensor in self.weights.values())


def look_into(path: Path) -> Contents:
    """The named tensors of a PyTorch file; everything else in it stays an empty shell."""
    file, shells = find(path), list[str]()
    try:
        shells = sorted(get_unsafe_globals_in_checkpoint(str(file)))
        with safe_globals([(_stand_in(name), name) for name in shells]):
            content = torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, ValueError, EOFError, TypeError) as error:
        # Not PyTorch's own words: they advise to run what is in the file.
        names = f"asks for {', '.join(shells[:SHOWN])}" if shells else "is not one of torch.save"
        raise CheckpointError(
            f"{file}: can't be read without running it: it {names}; save model.state_dict() with "
            "the program that wrote it"
        ) from error
    return Contents(tensors_in(content, file), tuple(shells))


def write(contents: Contents, out: Path) -> None:
    """A .safetensors file; tensors that shared memory get memory of their own."""
    if out.suffix != ".safetensors":
        raise ValueError(f"{out}: the converted file must be named .safetensors")
    own = {name: tensor.detach().clone().contiguous() for name, tensor in contents.weights.items()}
    write_atomic(out, save(own))


def _stand_in(name: str) -> Callable[..., object]:
    # The reader puts items only into true dictionaries, and this one is in every configuration.
    return _empty if name == "collections.defaultdict" else Inert


def _empty(*args: object) -> OrderedDict[object, object]:
    return OrderedDict()
