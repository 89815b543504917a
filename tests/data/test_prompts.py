"""Image-text logits of a benchmark against open_clip's, and a run of OpenPath on them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from fidal.data.benchmark import Benchmark
from fidal.data.folder import Folder
from fidal.data.prompts import Prompts
from fidal.encoders.biomedclip import BiomedClip
from tests.encoders import small_clip
from tests.encoders.made import pictures
from tests.small import go, images, table

TEXT = """
template = "an image of {}"
in_distribution = ["melanoma", "me"]
out_of_distribution = ["a image", "lano", "a melanoma of me"]
"""


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("open_clip")
    pytest.importorskip("transformers")
    path = tmp_path_factory.mktemp("prompts") / "clip"
    return small_clip.folder(path, small_clip.towers())


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_clip.shrink(monkeypatch)


@pytest.fixture
def prompts(clip: Path, tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "mine.toml").write_text(TEXT)
    encoder = {"checkpoint": clip / "open_clip_pytorch_model.bin"}
    return {"sentences": str(tmp_path / "mine.toml"), "encoder": encoder}


def test_logits_are_open_clips(prompts: dict[str, Any], clip: Path, tmp_path: Path) -> None:
    shown = pictures(4, 96, 96)
    scores = Prompts(**prompts).scores(list("abcd"), shown, tmp_path / "cache")
    network, preprocess, tokenize = small_clip.by_open_clip(clip)
    words = ["melanoma", "me", "a image", "lano", "a melanoma of me"]
    with torch.no_grad():
        pixels = torch.stack([preprocess(Image.fromarray(image)) for image in shown])
        seen = network.encode_image(pixels, normalize=True)
        said = network.encode_text(tokenize([f"an image of {w}" for w in words]), normalize=True)
        expected = network.logit_scale.exp() * seen @ said.T
    assert scores.logits.shape == (4, 5) and scores.logits.dtype == np.float32
    assert np.allclose(scores.logits, expected, atol=1e-2)  # of 85
    assert scores.in_distribution == (True, True, False, False, False)


def test_both_sides_are_found_in_the_cache(
    prompts: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = pictures(4, 96, 96)
    first = Prompts(**prompts).scores(list("abcd"), shown, tmp_path / "cache")

    def again(*args: object) -> None:
        raise AssertionError("computed again")

    monkeypatch.setattr(BiomedClip, "network", again)
    second = Prompts(**prompts).scores(list("abcd"), shown, tmp_path / "cache")
    assert np.array_equal(first.logits, second.logits)
    (tmp_path / "mine.toml").write_text(TEXT.replace("lano", "ma"))
    with pytest.raises(AssertionError, match="computed again"):
        Prompts(**prompts).scores(list("abcd"), shown, tmp_path / "cache")


def test_a_source_takes_a_name_a_file_or_a_table() -> None:
    short = Folder.model_validate({"manifest": "m.csv", "prompts": "fedisic"})
    assert short.prompts == Prompts(sentences="fedisic")
    named = {"name": "fedisic", "encoder": {"checkpoint": "clip.bin"}}
    long = Folder.model_validate({"manifest": "m.csv", "prompts": named})
    assert long.prompts is not None and long.prompts.sentences == "fedisic"
    assert long.prompts.encoder.checkpoint == Path("clip.bin")
    for source in (short, long):
        assert Folder.model_validate(source.model_dump(mode="json", exclude={"name"})) == source
    assert long.bare().prompts is None
    with pytest.raises(ValueError, match="sentence"):
        Folder.model_validate({"manifest": "m.csv", "prompts": {"sentence": "fedisic"}})


def test_openpath_runs_on_a_folder_with_prompts(prompts: dict[str, Any], tmp_path: Path) -> None:
    manifest = images(tmp_path / "images", train=9, test=3)
    config = table(manifest, strategy="openpath", rounds=1)
    config["benchmark"]["prompts"] = prompts
    config["benchmark"]["embeddings"] = "none"
    run = go(config, tmp_path / "run")
    rows = [line for line in run.rounds.read_text().splitlines() if '"openpath"' in line]
    assert len(rows) == 2 * 3  # warm-up and one query, of two sites and of both
    loaded: Benchmark = run.experiment().benchmark.load(manifest.parent / "cache")
    assert loaded.prompts is not None and loaded.prompts.logits.shape == (24, 5)
    assert loaded.coverage is None


def test_a_strategy_that_looks_at_no_prompts_needs_no_weights_for_them(tmp_path: Path) -> None:
    manifest = images(tmp_path / "images", train=8, test=2)
    config = table(manifest, strategy="random", rounds=1)
    absent = {"checkpoint": str(tmp_path / "none.bin")}
    config["benchmark"]["prompts"] = {"sentences": "fedisic", "encoder": absent}
    assert go(config, tmp_path / "random").rounds.exists()
    with pytest.raises(ValueError, match=r"'biomedclip': no checkpoint at .*none\.bin"):
        go({**config, "strategy": "openpath"}, tmp_path / "openpath")


def test_without_prompts_openpath_says_what_to_set(tmp_path: Path) -> None:
    manifest = images(tmp_path / "images", train=8, test=2)
    with pytest.raises(ValueError, match=r"needs prompts.*set benchmark\.prompts"):
        go(table(manifest, strategy="openpath"), tmp_path / "run")
