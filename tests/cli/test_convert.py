"""`fidal encoders convert`: what it says, and that it asks."""

from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

from fidal.checkpoints.files import read
from fidal.cli.commands import app


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    content = {"model": {"a": torch.ones(250_000)}, "loss": np.float64(1), "epoch": 3}
    torch.save(content, tmp_path / "model.tar")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "model.tar"


def convert(*words: str, answer: str = "") -> Result:
    words = ("encoders", "convert", "model.tar", "--out", "model.safetensors", *words)
    return CliRunner().invoke(app, list(words), input=answer)


def test_it_says_what_it_does_and_writes_after_a_yes(file: Path) -> None:
    result = convert(answer="y\n")
    assert result.exit_code == 0
    for words in ("nothing that it names is imported or run", "1 tensors, 1.0 MB", "left out"):
        assert words in result.stdout
    assert "multiarray.scalar" in result.stdout and "write model.safetensors?" in result.stdout
    assert torch.equal(read(file.with_suffix(".safetensors"))["a"], torch.ones(250_000))


@pytest.mark.parametrize("answer", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_written(file: Path, answer: str) -> None:
    assert convert(answer=answer).exit_code == 1
    assert not file.with_suffix(".safetensors").exists()


def test_scripts_say_yes_beforehand_and_hear_what_is_replaced(file: Path) -> None:
    assert "is there already" not in convert("--yes").stdout
    result = convert("--yes")
    assert result.exit_code == 0 and "model.safetensors is there already" in result.stdout
