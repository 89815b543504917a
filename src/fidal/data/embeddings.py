"""A file of precomputed frozen-encoder features g(x), with the id of the image of each row.

npz: arrays `id` (text, n) and `embedding` (n x e). safetensors: tensor `embedding` and the ids as a
JSON list under `id` in the file's metadata. Neither is ever unpickled.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from fidal.data.benchmark import DataAbsent
from fidal.storage import write_atomic


def read_embeddings(path: Path, ids: Sequence[str]) -> NDArray[np.float32]:
    """The rows of these images, in the order of `ids`, N x e. The file may hold more."""
    if not path.is_file():
        raise DataAbsent(f"no embeddings at {path.absolute()}: a .npz or .safetensors file")
    known, rows = _read_safetensors(path) if path.suffix == ".safetensors" else _read_npz(path)
    if rows.ndim != 2 or len(rows) != len(known):
        raise ValueError(f"{path}: 'embedding' has shape {rows.shape} for {len(known)} ids")
    position = {name: row for row, name in enumerate(known)}
    if len(position) < len(known):
        raise ValueError(f"{path}: {len(known) - len(position)} ids appear more than once")
    absent = [name for name in ids if name not in position]
    if absent:
        first = ", ".join(f"'{name}'" for name in absent[:3])
        raise ValueError(
            f"{path}: {len(absent)} of {len(ids)} images have no embedding, first {first}; embed "
            "them, or give their rows the ids of the manifest"
        )
    chosen = rows[[position[name] for name in ids]].astype(np.float32)
    wrong = int((~np.isfinite(chosen)).any(axis=1).sum())
    if wrong:
        raise ValueError(f"{path}: {wrong} embeddings have NaN or infinite values")
    return chosen


def write_embeddings(path: Path, ids: Sequence[str], rows: NDArray[np.floating]) -> None:
    """A file that `read_embeddings` reads; the suffix says which of the two kinds."""
    if path.suffix == ".safetensors":
        content = save({"embedding": rows}, {"id": json.dumps(list(ids))})
    elif path.suffix == ".npz":
        file = io.BytesIO()
        np.savez(file, id=np.array(ids, dtype=np.str_), embedding=rows)
        content = file.getvalue()
    else:
        raise ValueError(f"{path}: embeddings are written as .npz or .safetensors")
    write_atomic(path, content)


Rows = tuple[list[str], NDArray[np.floating]]


def _read_npz(path: Path) -> Rows:
    try:
        with np.load(path, allow_pickle=False) as file:
            return [str(name) for name in file["id"]], file["embedding"]
    except KeyError:
        raise ValueError(f"{path}: the arrays must be named 'id' and 'embedding'") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a readable .npz file: {error}") from None


def _read_safetensors(path: Path) -> Rows:
    try:
        with safe_open(path, framework="np") as file:
            return json.loads(file.metadata()["id"]), file.get_tensor("embedding")
    except (KeyError, TypeError, SafetensorError) as error:
        raise ValueError(
            f"{path}: needs a tensor 'embedding' and a metadata entry 'id', a JSON list: {error}"
        ) from None
