"""`fidal embed` as a person calls it."""

import json
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from typer.testing import CliRunner

from fidal.cli.commands import app
from fidal.data.embeddings import read_embeddings
from fidal.data.folder import Folder
from fidal.data.prepared import FedIsic
from fidal.data.preparing.prepare import prepare
from fidal.encoders.any_timm import TimmEncoder
from tests.data.preparing.made import Made, files
from tests.small import images

MODEL = "test_vit"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    images(tmp_path, train=8, test=2)
    torch.save(timm.create_model(MODEL).state_dict(), tmp_path / "vit.pth")
    config = f'[benchmark]\nname = "folder"\nmanifest = "{tmp_path}/manifest.csv"\nsize = 16\n'
    (tmp_path / "config.toml").write_text(config)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fidal(*words: str) -> str:
    result = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


VIT = ("--encoder", "timm", "--set", f"model={MODEL}", "--set", "checkpoint=vit.pth")


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
def test_what_it_writes_is_what_a_benchmark_reads(folder: Path, suffix: str) -> None:
    out = fidal("embed", "config.toml", *VIT, "--out", f"e{suffix}")
    assert "20 of 20 images" in out and "20 embeddings of length 64" in out
    source = Folder(manifest=folder / "manifest.csv", size=16, embeddings=folder / f"e{suffix}")
    loaded = source.load(folder / "cache")
    expected = TimmEncoder(model=MODEL, checkpoint=folder / "vit.pth").encode(
        np.array(loaded.inputs)
    )
    assert loaded.coverage is not None
    assert np.allclose(loaded.coverage, expected, atol=1e-4)
    assert np.abs(expected).max() > 0.1


def test_a_run_with_the_same_encoder_finds_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fidal("embed", "config.toml", *VIT, "--out", "e.npz")

    def encode(self: TimmEncoder, images: np.ndarray) -> np.ndarray:
        raise AssertionError("computed again")

    monkeypatch.setattr(TimmEncoder, "encode", encode)
    encoder = {"name": "timm", "model": MODEL, "checkpoint": "vit.pth"}
    source = Folder.model_validate({"manifest": "manifest.csv", "size": 16, "encoder": encoder})
    loaded = source.load(Path("cache"))
    assert np.array_equal(loaded.coverage, read_embeddings(Path("e.npz"), loaded.manifest.ids))  # type: ignore[arg-type]
    assert "images/s" not in fidal("embed", "config.toml", *VIT)


def test_the_files_encoder_is_taken_and_set_goes_over_it(folder: Path) -> None:
    config = (folder / "config.toml").read_text()
    more = f'[benchmark.encoder]\nname = "timm"\nmodel = "{MODEL}"\ncheckpoint = "none.pth"\n'
    (folder / "config.toml").write_text(config + more)
    words = (
        "embed",
        "config.toml",
        "--set",
        "checkpoint=vit.pth",
        "--set",
        "keep=float32",
        "--json",
    )
    told = json.loads(fidal(*words))
    assert told["images"] == 20 and told["dimension"] == 64
    assert told["encoder"]["checkpoint"] == "vit.pth" and told["encoder"]["keep"] == "float32"
    told = json.loads(fidal("embed", "config.toml", "--encoder", "scattering", "--json"))
    assert told["encoder"]["name"] == "scattering" and told["dimension"] == 512


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("fedhma", *VIT), r"'fedhma' is no TOML file, no prepared folder .*did you mean 'fedham'"),
        (("config.toml",), r"which encoder\? give --encoder; known: panderm, chief, mammo-clip"),
        (("config.toml", "--encoder", "cheif"), r"unknown encoder 'cheif'; did you mean 'chief'"),
        (("config.toml", "--encoder", "panderm"), r"encoder panderm: checkpoint: missing.*--set"),
        (("config.toml", *VIT, "--set", "checkpoint=a"), r"no checkpoint at .*/a: a \.safetensors"),
        (("config.toml", *VIT, "--out", "e.csv"), r"e\.csv: .*as \.npz or \.safetensors"),
        (("none.toml", *VIT), r"no configuration at none\.toml"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(folder: Path, words: tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        fidal("embed", *words)


def test_a_prepared_folder_is_known_by_its_record(folder: Path) -> None:
    prepare(Made(), Made().collect([files(folder / "downloads")]), folder / "prepared")
    assert "6 embeddings of length 64" in fidal("embed", "prepared", *VIT, "--out", "p.npz")
    source = FedIsic(root=folder / "prepared", embeddings=folder / "p.npz", view="embeddings")
    loaded = source.load(folder / "cache")
    pixels = np.load(folder / "prepared" / "pixels.npy")
    assert pixels.shape == (6, 4, 6, 1)
    expected = TimmEncoder(model=MODEL, checkpoint=folder / "vit.pth").encode(pixels)
    assert np.allclose(loaded.inputs, expected, atol=1e-4)


def test_vectors_are_no_images(folder: Path) -> None:
    np.savez(folder / "e.npz", id=np.array(["a"]), embedding=np.ones((1, 3)))
    config = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(config + 'embeddings = "e.npz"\nview = "embeddings"\n')
    assert "20 embeddings" in fidal("embed", "config.toml", *VIT)  # The images, all the same.
