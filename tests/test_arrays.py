import logging
from pathlib import Path

import numpy as np
import pytest

from fidal.arrays import keep, kept

SHAPE = (5, 7)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a" / "b" / "array.npz"
    keep(path, np.arange(35, dtype=np.float32).reshape(SHAPE))
    return path


def test_what_is_kept_is_found(path: Path) -> None:
    found = kept(path, SHAPE, np.float32)
    assert found is not None and found.dtype == np.float32
    assert np.array_equal(found, np.arange(35).reshape(SHAPE))
    assert [file.name for file in path.parent.iterdir()] == ["array.npz"]


def test_nothing_there_is_no_damage(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert kept(tmp_path / "absent.npz", SHAPE, np.float32) is None
    assert not caplog.records


def is_refused(path: Path, caplog: pytest.LogCaptureFixture) -> bool:
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        found = kept(path, SHAPE, np.float32)
    return found is None and [str(path) in r.getMessage() for r in caplog.records] == [True]


def test_every_flipped_byte_of_the_content_is_noticed(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = path.read_bytes()
    content = np.arange(35, dtype=np.float32).tobytes()
    start = whole.index(content)
    for position in range(start, start + len(content)):
        damaged = bytearray(whole)
        damaged[position] ^= 4
        path.write_bytes(damaged)
        assert is_refused(path, caplog)


@pytest.mark.parametrize("length", [0, 1, 50, 150, 300])
def test_a_cut_file_is_refused(path: Path, length: int, caplog: pytest.LogCaptureFixture) -> None:
    path.write_bytes(path.read_bytes()[:length])
    assert is_refused(path, caplog)


def test_another_shape_type_or_name_is_refused(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for wrong in (np.zeros((5, 6), np.float32), np.zeros(SHAPE, np.float64)):
        keep(path, wrong)
        assert is_refused(path, caplog)
    np.savez(path, other=np.zeros(SHAPE, np.float32))
    assert is_refused(path, caplog)


def test_nothing_is_unpickled(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    objects = np.empty(SHAPE, dtype=object)
    np.savez(path, array=objects, allow_pickle=True)
    assert is_refused(path, caplog)
