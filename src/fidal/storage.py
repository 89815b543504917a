"""Files that are there whole or not at all, and the state of a run in one of them."""

import errno
import fcntl
import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

FORMAT: Final = "fidal state 1"
WITHOUT_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


class StateError(Exception):
    """A file of a run that can't be written or can't be trusted. Nothing was overwritten."""


class Busy(StateError):  # noqa: N818  (it is no fault to be busy)
    """Another process holds the folder."""


def write_atomic(path: Path, content: bytes) -> None:
    """Make `content` the file at `path`, on the disk when this returns.

    Whoever reads meanwhile, or after a kill or a power cut, finds the old file or the new one: the
    new one is written beside it and forced to the disk before it takes the name.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    with writing(path):
        try:
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            try:
                write_all(descriptor, content)
            finally:
                os.close(descriptor)
            beside.replace(path)
            sync_folder(path.parent)
        finally:
            beside.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what killed writers left in `folder`; only for the one process that writes there."""
    for leftover in folder.glob(".*.tmp*"):
        leftover.unlink()


def write_all(descriptor: int, content: bytes) -> None:
    """Write and force to the disk; the system may take the content in several pieces."""
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Force the names in `folder` to the disk: a new file is lost without its name."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def hold(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """The folder for this process alone, in its turn with `wait`; else `Busy` if it is held.

    A lock on the file `.lock` in it, which ends with its holder, killed or not. It is a file open
    for writing because Linux asks an NFS server for such a lock only: that of a folder would hold
    between the processes of one machine and not between machines. Where a share is mounted with
    local locks (`nolock`, `local_lock=flock`) it does not, and nobody can find that out.
    """
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise Busy(f"{folder}: another process is at work here; wait for it") from error
        except OSError as error:
            if error.errno not in WITHOUT_LOCKS:
                raise
            raise StateError(
                f"{folder}: this file system has no locks ({error.strerror}), and two processes "
                "could do the same work at once; name a folder on another disk"
            ) from error
        yield
    finally:
        os.close(descriptor)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what the system refuses while `path` is written into a `StateError`."""
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        way_out = "free some space" if full else "make its folder exist and writable"
        raise StateError(
            f"{path} can't be written: {error.strerror}; it is as it was before; "
            f"{way_out} and resume the run"
        ) from error


def digest(tensors: Mapping[str, Tensor], meta: Mapping[str, str]) -> str:
    """SHA-256 over names, dtypes, shapes, every bit of every tensor, and `meta`, in sorted order.

    NaNs with different bits differ, and so do 0.0 and -0.0: equal means bit for bit.
    """
    total = hashlib.sha256(json.dumps(dict(meta), sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        total.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        flat = tensor.detach().cpu().contiguous().reshape(-1)
        total.update(flat.view(torch.uint8).numpy().data)
    return total.hexdigest()


def save_state(path: Path, tensors: Mapping[str, Tensor], meta: Mapping[str, str]) -> None:
    """Tensors (any device, dtype and strides; sharing is not kept) and texts, in safetensors.

    Equal content gives equal files, byte for byte.
    """
    own = {
        name: tensor.detach().to("cpu", copy=True, memory_format=torch.contiguous_format)
        for name, tensor in tensors.items()
    }
    # One text, because safetensors writes several in random order.
    head = {"format": FORMAT, "digest": digest(own, meta), "meta": dict(meta)}
    write_atomic(path, save(own, {"fidal": json.dumps(head, sort_keys=True)}))


def load_state(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors, on the CPU, and the texts that `save_state` was given, bit for bit."""
    with _opened(path) as file:
        head = _head(path, file.metadata())
        tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    meta: dict[str, str] = head.get("meta", {})
    if digest(tensors, meta) != head.get("digest"):
        raise _untrusted(path, "is damaged: its content does not have its digest")
    return tensors, meta


def load_texts(path: Path) -> dict[str, str]:
    """The texts alone, at once: the tensors are neither read nor checked."""
    with _opened(path) as file:
        texts: dict[str, str] = _head(path, file.metadata()).get("meta", {})
        return texts


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except FileNotFoundError as error:
        raise StateError(f"{path} does not exist: nothing to resume; start the run") from error
    except (SafetensorError, OSError, ValueError) as error:
        raise _untrusted(path, f"is no whole state of fidal ({error})") from error


def _head(path: Path, metadata: Mapping[str, str] | None) -> dict[str, Any]:
    head: dict[str, Any] = json.loads((metadata or {}).get("fidal", "{}"))
    if head.get("format") != FORMAT:
        raise _untrusted(path, f"has the format {head.get('format')!r}, not {FORMAT!r}")
    return head


def _untrusted(path: Path, what: str) -> StateError:
    return StateError(f"{path} {what}; put back a copy of it, or start the run in a new folder")
