import errno
import fcntl
import itertools
import os
import pickle
import stat
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import Tensor

from fidal.storage import (
    Busy,
    StateError,
    digest,
    hold,
    load_state,
    load_texts,
    remove_leftovers,
    save_state,
    write_atomic,
)
from tests.killed import PROCESSES, killed_after

META = {"round": "3", "rng": '{"state": 12345678901234567890}', "träne": "Ω\n"}


def bits(tensor: Tensor) -> tuple[torch.dtype, torch.Size, bytes]:
    flat = tensor.detach().contiguous().reshape(-1).view(torch.uint8)
    return tensor.dtype, tensor.shape, flat.numpy().tobytes()


def some_state() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(0)
    base = torch.randn(6, 4, generator=generator)
    state = {
        f"{dtype}": base.to(dtype)
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.uint8)
    }
    return state | {
        "integers": torch.tensor([-(2**63), 2**63 - 1, 0]),
        "flags": base > 0,
        "count": torch.tensor(17),
        "flag": torch.tensor(True),
        "none": torch.zeros(0, 5),
        "odd": torch.tensor([0.0, -0.0, float("inf"), 1e-45]),
        "nans": torch.tensor([0x7FC00001, -0x3FFFFF], dtype=torch.int32).view(torch.float32),
        "transposed": base.T,
        "slice": base[1:3, ::2],
        "tied": base,
        "expanded": base[:, :1].expand(6, 3),
        "channels-last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "parameter": torch.nn.Parameter(base.clone()),
    }


def full(*args: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# write_atomic


def test_it_makes_and_replaces_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    for content in (b"first", b"", bytes(range(256)) * 5000):
        write_atomic(path, content)
        assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_its_permissions_are_those_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    write_atomic(tmp_path / "atomic", b"")
    assert (tmp_path / "atomic").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_content_is_on_the_disk_before_it_has_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = tmp_path / "a.bin", []
    fsync, replace = os.fsync, Path.replace

    def see_fsync(descriptor: int) -> None:
        seen.append("folder" if os.path.samestat(os.fstat(descriptor), tmp_path.stat()) else "file")
        assert seen[-1] == "folder" or os.fstat(descriptor).st_size == 3
        fsync(descriptor)

    def see_replace(source: Path, target: Path) -> Path:
        seen.append("name")
        assert source.parent == target.parent
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", see_fsync)
    monkeypatch.setattr(Path, "replace", see_replace)
    write_atomic(path, b"new")
    assert seen == ["file", "name", "folder"]


def test_pieces_that_the_system_takes_one_by_one_are_put_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, content: write(descriptor, content[:7]))
    write_atomic(tmp_path / "a.bin", bytes(range(100)))
    assert (tmp_path / "a.bin").read_bytes() == bytes(range(100))


@pytest.mark.parametrize("where", ["write", "fsync"])
def test_a_full_disk_leaves_the_old_file_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    path = tmp_path / "a.bin"
    write_atomic(path, b"old")
    monkeypatch.setattr(os, where, full)
    with pytest.raises(StateError, match=r"a\.bin.*No space left.*as it was.*free some space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_a_disk_that_fills_up_in_the_middle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, write = tmp_path / "a.bin", os.write
    write_atomic(path, b"old")
    room = iter([3, 2])
    monkeypatch.setattr(os, "write", lambda d, c: write(d, c[: next(room, 0)]) or full())
    with pytest.raises(StateError, match="free some space"):
        write_atomic(path, b"new content")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"absent/a\.bin can't be written.*make its folder"):
        write_atomic(tmp_path / "absent" / "a.bin", b"")


def test_leftovers_of_killed_writers_can_be_removed(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a.bin", b"whole")
    (tmp_path / ".a.bin.0123.tmp").write_bytes(b"ha")
    (tmp_path / "notes.tmp").write_bytes(b"a person's")
    remove_leftovers(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.bin", "notes.tmp"]


# State


def test_every_bit_comes_back(tmp_path: Path) -> None:
    state = some_state()
    before = {name: bits(tensor) for name, tensor in state.items()}
    save_state(tmp_path / "state", state, META)
    tensors, meta = load_state(tmp_path / "state")
    assert {name: bits(tensor) for name, tensor in tensors.items()} == before
    assert {name: bits(tensor) for name, tensor in state.items()} == before, "inputs are kept"
    assert meta == META
    assert digest(tensors, meta) == digest(state, META)


def test_loaded_tensors_do_not_hang_on_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save_state(path, {"a": torch.ones(1000)}, {})
    tensors, _ = load_state(path)
    path.write_bytes(bytes(path.stat().st_size))
    assert tensors["a"].sum() == 1000
    tensors["a"] += 1


def test_nothing_is_a_state_too(tmp_path: Path) -> None:
    save_state(tmp_path / "state", {}, {})
    assert load_state(tmp_path / "state") == ({}, {})


def test_equal_content_gives_equal_files(tmp_path: Path) -> None:
    """Several texts as safetensors' own metadata come in another order each time."""
    state = {"b": torch.arange(3), "a": torch.ones(2)}
    meta = {str(i): "x" for i in range(20)}
    for i in range(4):
        save_state(tmp_path / f"state-{i}", state, meta)
        state, meta = dict(reversed(state.items())), dict(reversed(meta.items()))
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_the_digest_sees_every_difference() -> None:
    ones = torch.ones(4)
    variants: list[tuple[dict[str, Tensor], dict[str, str]]] = [
        ({"a": ones}, {}),
        ({"b": ones}, {}),
        ({"a": ones.reshape(2, 2)}, {}),
        ({"a": ones.double()}, {}),
        ({"a": ones.view(torch.int32)}, {}),
        ({"a": torch.nextafter(ones, 2 * ones)}, {}),
        ({"a": torch.zeros(4)}, {}),
        ({"a": -torch.zeros(4)}, {}),
        ({"a": ones[:2], "b": ones[:2]}, {}),
        ({"a": ones}, {"a": "1"}),
        ({"a": ones}, {"a": "2"}),
        ({}, {"a": "1"}),
    ]
    digests = [digest(tensors, meta) for tensors, meta in variants]
    assert len(set(digests)) == len(variants)
    assert digest({"b": ones, "a": ones}, {}) == digest({"a": ones, "b": ones.clone()}, {})


def foreign_safetensors() -> bytes:
    return safetensors.torch.save({"a": torch.ones(2)}, {"epoch": "3"})


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"",
        lambda: b"\x00" * 100,
        lambda: b"round,site\n1,vienna\n" * 50,
        lambda: pickle.dumps({"a": 1}),
        foreign_safetensors,
        lambda: safetensors.torch.save({}, {"fidal": '{"format": "fidal state 99"}'}),
    ],
    ids=["empty", "zeros", "text", "pickle", "foreign", "other-format"],
)
def test_a_foreign_file_is_refused(tmp_path: Path, make: Callable[[], bytes]) -> None:
    path = tmp_path / "state"
    path.write_bytes(make())
    with pytest.raises(StateError, match=r"/state (is|has).*put back a copy of it, or start"):
        load_state(path)
    assert path.read_bytes() == make()


def test_a_missing_file_or_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="/state does not exist"):
        load_state(tmp_path / "state")
    with pytest.raises(StateError, match=tmp_path.name):
        load_state(tmp_path)


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save_state(path, {"a": torch.ones(2, 3), "b": torch.tensor(True)}, {"k": "v"})
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(StateError):
            load_state(path)
    path.write_bytes(whole + b"\x00")
    with pytest.raises(StateError):
        load_state(path)


def test_a_flipped_bit_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state"
    save_state(path, {"a": torch.ones(2, 3), "b": torch.arange(2)}, {"k": "v"})
    whole = path.read_bytes()
    for place, bit in itertools.product(range(len(whole)), (1, 16, 64)):
        damaged = bytearray(whole)
        damaged[place] ^= bit
        path.write_bytes(damaged)
        with pytest.raises(StateError):
            load_state(path)


def test_the_texts_can_be_had_alone(tmp_path: Path) -> None:
    save_state(tmp_path / "state", some_state(), META)
    assert load_texts(tmp_path / "state") == META
    content = (tmp_path / "state").read_bytes()
    for wrong in (content[:20], foreign_safetensors()):
        (tmp_path / "state").write_bytes(wrong)
        with pytest.raises(StateError, match="put back a copy"):
            load_texts(tmp_path / "state")
    with pytest.raises(StateError, match="does not exist"):
        load_texts(tmp_path / "nothing")


def test_a_full_disk_keeps_the_last_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state"
    save_state(path, {"a": torch.ones(3)}, {"round": "1"})
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StateError, match="free some space and resume"):
            save_state(path, {"a": torch.zeros(3)}, {"round": "2"})
    tensors, meta = load_state(path)
    assert meta == {"round": "1"}
    assert torch.equal(tensors["a"], torch.ones(3))


# Kills


def save_on(path: Path, said: Connection) -> None:
    first = int(load_state(path)[1]["step"]) + 1 if path.exists() else 0
    for step in itertools.count(first):
        save_state(path, {"a": torch.full((50_000,), step)}, {"step": str(step)})
        said.send(step)


def test_a_kill_leaves_the_last_state_or_the_one_before(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    path = tmp_path / "state"
    for _ in range(10):
        last = killed_after(rng.uniform(0, 0.05), save_on, path)[-1]
        tensors, meta = load_state(path)
        assert int(meta["step"]) in (last, last + 1)
        assert torch.equal(tensors["a"], torch.full((50_000,), int(meta["step"])))
    remove_leftovers(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["state"]


# The lock


def keep_hold(path: Path, said: Connection) -> None:
    with hold(path, wait=True):
        said.send(os.getpid())
        said.recv()


def test_a_folder_is_one_process_s_until_it_ends_even_by_a_kill(tmp_path: Path) -> None:
    ours, theirs = PROCESSES.Pipe()
    first = PROCESSES.Process(target=keep_hold, args=(tmp_path, theirs), daemon=True)
    first.start()
    assert ours.recv() == first.pid
    with pytest.raises(Busy, match="another process is at work here"), hold(tmp_path):
        pass
    second = PROCESSES.Process(target=keep_hold, args=(tmp_path, theirs), daemon=True)
    second.start()
    assert not ours.poll(0.3), "the second one waits"
    first.kill()
    assert ours.recv() == second.pid
    ours.send(None)
    second.join()
    with hold(tmp_path):
        pass


def test_the_lock_is_one_that_an_nfs_server_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a file that is not open for writing, or of a folder, the server would not hear."""
    seen: list[tuple[bool, int]] = []

    def flock(descriptor: int, how: int) -> None:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        seen.append((regular, fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE))

    monkeypatch.setattr(fcntl, "flock", flock)
    with hold(tmp_path):
        pass
    assert seen == [(True, os.O_RDWR)]


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def flock(descriptor: int, how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(StateError, match=r"has no locks .*another disk"), hold(tmp_path):
        pass
