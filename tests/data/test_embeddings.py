import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from fidal.data.benchmark import DataAbsent
from fidal.data.embeddings import read_embeddings

Write = Callable[[Path, list[str], np.ndarray], Path]

IDS = ["a", "b", "c"]
ROWS = np.arange(12, dtype=np.float32).reshape(3, 4)


def npz(path: Path, ids: list[str], rows: np.ndarray) -> Path:
    np.savez(path, id=np.array(ids), embedding=rows)
    return path


def safetensors(path: Path, ids: list[str], rows: np.ndarray) -> Path:
    save_file({"embedding": rows}, path, metadata={"id": json.dumps(ids)})
    return path


@pytest.mark.parametrize(("write", "name"), [(npz, "e.npz"), (safetensors, "e.safetensors")])
def test_rows_come_in_the_order_asked_for(tmp_path: Path, write: Write, name: str) -> None:
    found = read_embeddings(write(tmp_path / name, IDS, ROWS.astype(np.float16)), ["c", "a"])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, ROWS[[2, 0]])


@pytest.mark.parametrize(("write", "name"), [(npz, "e.npz"), (safetensors, "e.safetensors")])
def test_images_without_embedding_are_counted_and_named(
    tmp_path: Path, write: Write, name: str
) -> None:
    path = write(tmp_path / name, IDS, ROWS)
    message = "4 of 5 images have no embedding, first 'v', 'w', 'x'; embed them"
    with pytest.raises(ValueError, match=message):
        read_embeddings(path, ["v", "a", "w", "x", "y"])


def test_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    path = tmp_path / "e.npz"
    with pytest.raises(DataAbsent, match=r"no embeddings at .*e\.npz"):
        read_embeddings(path, IDS)
    with pytest.raises(ValueError, match="1 ids appear more than once"):
        read_embeddings(npz(path, ["a", "b", "a"], ROWS), ["a"])
    with pytest.raises(ValueError, match=r"shape \(2, 4\) for 3 ids"):
        read_embeddings(npz(path, IDS, ROWS[:2]), IDS)
    with pytest.raises(ValueError, match="1 embeddings have NaN or infinite"):
        read_embeddings(npz(path, IDS, np.where(ROWS == 5, np.nan, ROWS)), IDS)
    np.savez(path, ids=np.array(IDS), embedding=ROWS)
    with pytest.raises(ValueError, match="'id' and 'embedding'"):
        read_embeddings(path, IDS)
    path.write_bytes(b"PK no archive")
    with pytest.raises(ValueError, match="not a readable"):
        read_embeddings(path, IDS)


def test_pickled_ids_are_not_opened(tmp_path: Path) -> None:
    np.savez(tmp_path / "e.npz", id=np.array(IDS, dtype=object), embedding=ROWS)
    with pytest.raises(ValueError, match="not a readable"):
        read_embeddings(tmp_path / "e.npz", IDS)


def test_safetensors_without_ids(tmp_path: Path) -> None:
    path = tmp_path / "e.safetensors"
    save_file({"embedding": ROWS}, path)
    with pytest.raises(ValueError, match="a metadata entry 'id'"):
        read_embeddings(path, IDS)
    path.write_bytes(b"\0" * 30)
    with pytest.raises(ValueError, match="needs a tensor 'embedding'"):
        read_embeddings(path, IDS)
