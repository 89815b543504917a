import json
import logging
import tomllib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidal.cli import main
from fidal.data.prepared import FedIsic
from tests.data.preparing.fedcamelyon import tree as fedcamelyon
from tests.data.preparing.fedisic import tree as fedisic


class Shell:
    """Runs `fidal` in this process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def __call__(self, *words: object) -> tuple[int, str, str]:
        """Out: exit code, stdout, stderr."""
        self._monkeypatch.setattr("sys.argv", ["fidal", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        return (int(code or 0), *self._capsys.readouterr())


@pytest.fixture
def fidal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.setattr(logging.getLogger("fidal"), "handlers", [])  # `main` adds its own
    return Shell(monkeypatch, capsys)


@pytest.fixture
def isic(tmp_path: Path) -> list[str]:
    folders = fedisic.downloads(tmp_path / "downloads")
    words = [word for folder in folders for word in ("--from", str(folder))]
    return ["fedisic", *words, "--set", f"split={folders[0] / 'train_test_split'}"]


def test_counts_that_are_not_the_papers_stop_it_unless_that_is_allowed(
    fidal: Shell, isic: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    code, told, error = fidal("data", "prepare", *isic, "--out", out)
    assert code == 2
    assert "ID training images\tbcn\t9,930\t16\tdiffers" in told
    assert "OOD: ddi\tall sites\t656\t10\tdiffers" in told
    assert error.count("\n") == 1 and "expected 9,930, found 16" in error
    assert not (out / "benchmark.json").exists()
    code, told, error = fidal("data", "prepare", *isic, "--out", out, "--allow-partial")
    assert (code, error) == (0, "")
    assert "106 of 106 images" in told
    table = tomllib.loads(told[told.index("[benchmark]") :])["benchmark"]
    assert table == {"name": "fedisic", "root": str(out)}
    benchmark = FedIsic(root=table["root"]).load(tmp_path / "cache")
    assert benchmark.inputs.shape == (106, 224, 224, 3)


def test_for_machines_there_is_json_and_nothing_else(
    fidal: Shell, isic: list[str], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    words = (*isic, "--out", out, "--allow-partial", "--json", "--set", "overflow=wrap")
    code, told, error = fidal("data", "prepare", *words)
    record = json.loads(told)
    assert (code, error) == (0, "")
    assert record["settings"]["overflow"] == "wrap"
    assert record["counts"][0] == {
        "what": "ID training images",
        "site": "bcn",
        "expected": 9930,
        "found": 16,
    }
    code, told, error = fidal("data", "check", out, "--json")
    found = json.loads(told)
    assert (code, error, found["problems"]) == (0, "", [])
    assert found["sites"][0] == {"site": "bcn", "id_train": 16, "ood_train": 23, "test": 8}
    assert len(found["notes"]) == 14


def test_check_says_what_is_damaged(fidal: Shell, isic: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    fidal("data", "prepare", *isic, "--out", out, "--allow-partial")
    code, told, error = fidal("data", "check", out)
    assert (code, error) == (0, "")
    assert "bcn\t16\t23\t8" in told and "all is as it was written" in told
    pixels = np.load(out / "pixels.npy", mmap_mode="r+")
    pixels[0, :5] += 1
    pixels.flush()
    code, told, error = fidal("data", "check", out)
    assert code == 2 and "all is as" not in told
    assert error.startswith(f"fidal: {out}: pixels.npy: 1 images are not as they were written")


def test_a_sheet_is_drawn(fidal: Shell, isic: list[str], tmp_path: Path) -> None:
    fidal("data", "prepare", *isic, "--out", tmp_path / "out", "--allow-partial")
    sheet = tmp_path / "sheet.png"
    code, told, _ = fidal("data", "show", tmp_path / "out", "--out", sheet, "--each", "3")
    assert (code, told.strip()) == (0, str(sheet))
    with Image.open(sheet) as image:
        assert image.width < 500 and image.height > 1000
        assert len(image.getcolors(1 << 24) or ()) > 1000


def test_unreadable_images_are_left_out_by_choice(
    fidal: Shell, isic: list[str], tmp_path: Path
) -> None:
    images = sorted((tmp_path / "downloads/isic/ISIC_2019_Training_Input").iterdir())
    images[3].write_bytes(images[3].read_bytes()[:400])
    Image.new("I;16", (60, 60), 999).save(images[4], format="PNG")
    words = ("data", "prepare", *isic, "--out", tmp_path / "out", "--allow-partial")
    code, _, error = fidal(*words)
    assert code == 2 and error.count("\n") == 1
    assert "2 of 106 images cannot be read" in error
    assert f"'ISIC_2019_Training_Input/{images[3].name}' (" in error
    assert "mode I;16; 8-bit colour is expected" in error and "--quarantine" in error
    code, told, _ = fidal(*words, "--quarantine")
    assert code == 0 and "2 unreadable images left out" in told
    code, told, _ = fidal("data", "check", tmp_path / "out")
    assert code == 0 and f"left out: ISIC_2019_Training_Input/{images[4].name}, bcn" in told


def test_mistakes_are_one_line(fidal: Shell, isic: list[str], tmp_path: Path) -> None:
    out = ("--out", tmp_path / "out")
    for words, told in (
        (("prepare", "fedisik", *isic[1:], *out), "unknown benchmark 'fedisik'; did you mean"),
        (("prepare", *isic, *out, "--set", "sed=3"), "sed: unknown key; did you mean 'seed'?"),
        (("prepare", *isic[:-2], *out), "split: missing; give it a value"),
        (("prepare", *isic, *out, "--set", "overflow=no"), "overflow: Input should be 'clip' or"),
        (("check", tmp_path / "nowhere"), "nowhere holds no prepared benchmark"),
        (("show", tmp_path, "--out", tmp_path / "x.png"), "holds no prepared benchmark"),
    ):
        code, _, error = fidal("data", *words)
        assert code == 2 and error.startswith("fidal: ") and error.count("\n") == 1, error
        assert told in error


def test_fedcamelyon_from_its_downloads(fidal: Shell, tmp_path: Path) -> None:
    wilds, artefacts = fedcamelyon.downloads(tmp_path / "downloads")
    fedcamelyon.patch_path(wilds, fedcamelyon.rows()[9]).unlink()
    words = ("fedcamelyon", "--from", wilds, "--from", artefacts, "--out", tmp_path / "out")
    code, told, error = fidal("data", "prepare", *words)
    assert code == 2 and "1 files are missing, first patch_patient_009_node_1_" in error
    assert "OOD: tissue damage\tcentre_3\t964\t3\tdiffers" in told
    code, told, _ = fidal("data", "prepare", *words, "--allow-partial", "--set", "seed=2")
    assert code == 0 and "see missing.txt" in told
    code, told, _ = fidal("data", "check", tmp_path / "out")
    assert code == 0 and "centre_2\t8\t12\t8" in told


def test_what_can_be_set_is_listed(fidal: Shell) -> None:
    _, told, _ = fidal("list", "preparations", "--json")
    fields = {entry["name"]: entry["fields"] for entry in json.loads(told)}
    assert fields["fedisic"] == ["split", "outliers", "overflow", "seed"]
    assert fields["fedcamelyon"] == ["seed"]
