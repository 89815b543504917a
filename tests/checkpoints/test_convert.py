"""Tensors out of files that hold more, and that nothing of such a file is run."""

import collections
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.checkpoints.convert import look_into, write
from fidal.checkpoints.files import CheckpointError, read

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.ones(2)}


class Trap:
    """Unpickling it would remove a folder."""

    def __init__(self, folder: Path, by: Callable[..., object]) -> None:
        self.folder, self.by = folder, by

    def __reduce__(self) -> tuple[object, ...]:
        text = f"__import__('os').rmdir({str(self.folder)!r})"
        return self.by, (text if self.by is eval else str(self.folder),)


@pytest.mark.parametrize(
    ("by", "name"),
    [(shutil.rmtree, "shutil.rmtree"), (eval, "builtins.eval")],
    ids=["call", "eval"],
)
def test_what_would_run_becomes_an_empty_shell(
    tmp_path: Path, by: Callable[..., object], name: str
) -> None:
    (tmp_path / "precious").mkdir()
    torch.save({"model": STATE, "config": Trap(tmp_path / "precious", by)}, tmp_path / "a.tar")
    contents = look_into(tmp_path / "a.tar")
    assert (tmp_path / "precious").exists()
    assert contents.shells == (name,) and contents.size == 8 * 4
    assert contents.weights.keys() == STATE.keys()
    assert torch.equal(contents.weights["a.weight"], STATE["a.weight"])


def test_what_reaches_for_the_system_is_refused_altogether(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    torch.save(
        {"model": STATE, "config": Trap(tmp_path / "precious", os.rmdir)}, tmp_path / "a.tar"
    )
    says = r"a\.tar: can't be read without running it: it asks for \w+\.rmdir; save model\.state_"
    with pytest.raises(CheckpointError, match=says):
        look_into(tmp_path / "a.tar")
    assert (tmp_path / "precious").exists()


def test_all_that_training_scripts_save_is_passed_over(tmp_path: Path) -> None:
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(network.parameters())
    network(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    lists: dict[str, list[int]] = collections.defaultdict(list)
    lists["a"].append(1)
    rest = {
        "optimizer": optimizer.state_dict(),
        "scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10).state_dict(),
        "loss": np.float64(0.5),
        "history": np.ones(3),
        "lists": lists,
        "ids": {1, 2},
        "place": Path("a"),
    }
    torch.save({"model": network.state_dict(), **rest}, tmp_path / "a.tar")
    contents = look_into(tmp_path / "a.tar")
    assert contents.weights.keys() == {"weight", "bias"}
    assert "collections.defaultdict" in contents.shells


def test_the_classes_of_an_omegaconf_configuration_are_not_even_imported(tmp_path: Path) -> None:
    omegaconf = pytest.importorskip("omegaconf")
    config = omegaconf.OmegaConf.create(
        {"model": {"name": "x", "sizes": [1, 2.5, None]}, "of": "t"}
    )
    torch.save({"model": STATE, "config": config}, tmp_path / "a.tar")
    contents = look_into(tmp_path / "a.tar")
    assert "omegaconf.dictconfig.DictConfig" in contents.shells
    assert contents.weights.keys() == STATE.keys()


def test_the_written_file_is_read_plainly_and_shared_memory_is_parted(tmp_path: Path) -> None:
    tied = {**STATE, "b.weight": STATE["a.weight"], "c.weight": STATE["a.weight"].T}
    torch.save({"state_dict": tied, "epoch": np.int64(3)}, tmp_path / "a.pth")
    write(look_into(tmp_path / "a.pth"), tmp_path / "a.safetensors")
    found = read(tmp_path / "a.safetensors")
    assert found.keys() == tied.keys() and all(torch.equal(found[k], tied[k]) for k in tied)


def test_only_safetensors_are_written(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "a.pth")
    with pytest.raises(ValueError, match=r"must be named \.safetensors"):
        write(look_into(tmp_path / "a.pth"), tmp_path / "b.pth")
    assert not (tmp_path / "b.pth").exists()


@pytest.mark.parametrize("content", [b"", b"PK no archive", b"\x80\x02}q\x00."])
def test_a_damaged_or_foreign_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.tar").write_bytes(content)
    with pytest.raises(CheckpointError, match=r"a\.tar: can't be read"):
        look_into(tmp_path / "a.tar")
    with pytest.raises(CheckpointError, match=r"no checkpoint at .*b\.tar"):
        look_into(tmp_path / "b.tar")
