"""BiomedCLIP against open_clip's own loading of the same folder."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from fidal.encoders import ENCODERS
from fidal.encoders.biomedclip import BERT, DIMENSION, TRUNK, BiomedClip, Towers
from tests.encoders import small_clip
from tests.encoders.made import close, pictures, told_apart

SENTENCES = ["An image of a melanoma", "an image of me", "melanoma"]
WEIGHTS = "open_clip_pytorch_model.bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("open_clip")
    pytest.importorskip("transformers")
    return small_clip.folder(tmp_path_factory.mktemp("hub") / "clip", small_clip.towers())


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_clip.shrink(monkeypatch)


def test_images_and_sentences_are_those_of_open_clip(folder: Path) -> None:
    encoder = BiomedClip(checkpoint=folder / WEIGHTS)
    network, preprocess, tokenize = small_clip.by_open_clip(folder)
    images = pictures(3, 96, 96)
    with torch.no_grad():
        pixels = torch.stack([preprocess(Image.fromarray(image)) for image in images])
        seen = network.encode_image(pixels, normalize=True)
        said = network.encode_text(tokenize(SENTENCES), normalize=True)
        logits = network.logit_scale.exp() * seen @ said.T
    rows, sentences = encoder.encode(images), encoder.sentences(SENTENCES)
    assert rows.shape == (3, encoder.dimension) and sentences.shape == (3, encoder.dimension)
    assert told_apart(seen) and told_apart(said)
    assert close(rows, seen)
    assert np.allclose(rows @ sentences.T, logits, atol=1e-2)  # Logits are some 85 times as large.
    assert np.allclose(np.linalg.norm(sentences, axis=1), np.exp(4.4454), rtol=1e-5)


def test_names_and_shapes_of_the_real_one() -> None:
    pytest.importorskip("transformers")
    with torch.device("meta"):
        state = Towers(TRUNK, BERT, DIMENSION).state_dict()
    shapes = {name: tuple(tensor.shape) for name, tensor in state.items()}
    assert shapes["logit_scale"] == ()
    assert shapes["visual.trunk.pos_embed"] == (1, 197, 768)
    assert shapes["visual.trunk.blocks.11.attn.qkv.bias"] == (2304,)
    assert shapes["visual.head.proj.weight"] == (512, 768)
    assert shapes["text.transformer.embeddings.word_embeddings.weight"] == (30522, 768)
    assert shapes["text.transformer.encoder.layer.11.output.dense.weight"] == (768, 3072)
    assert shapes["text.proj.0.weight"] == (640, 768)
    assert shapes["text.proj.2.weight"] == (512, 640)
    assert not any("pooler" in name or "visual.trunk.head" in name for name in shapes)
    assert ENCODERS["biomedclip"] is BiomedClip


def test_a_foreign_file_is_refused_by_name(folder: Path, tmp_path: Path) -> None:
    state = torch.load(folder / WEIGHTS, weights_only=True)
    state["visual.conv1.weight"] = state.pop("visual.trunk.cls_token")
    torch.save(state, tmp_path / "clip.bin")
    says = (
        r"'biomedclip': clip\.bin: 1 names missing \(first visual.trunk.cls_token\); 1 names unex"
    )
    with pytest.raises(ValueError, match=says):
        BiomedClip(checkpoint=tmp_path / "clip.bin").encode(pictures(1, 96, 96))


def test_images_need_no_tokenizer_and_sentences_say_which_files(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / WEIGHTS).write_bytes((folder / WEIGHTS).read_bytes())
    encoder = BiomedClip(checkpoint=tmp_path / WEIGHTS)
    assert encoder.encode(pictures(1, 96, 96)).shape == (1, 16)
    with pytest.raises(ValueError, match=r"finds no tokenizer in .*tokenizer\.json.*vocab\.txt"):
        encoder.sentences(SENTENCES)


def test_without_its_library_the_extra_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ValueError, match=r"needs transformers.*pip install 'fidal\[openclip\]'"):
        BiomedClip(checkpoint=folder / WEIGHTS).encode(pictures(1, 96, 96))


def test_an_absent_file_and_an_unreachable_hub_say_what_to_fetch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        ValueError, match=r"no checkpoint at .*; the file: Hugging Face microsoft/B"
    ):
        _ = BiomedClip(checkpoint=tmp_path / "none.bin").identity

    def unreachable(*args: object, **kwargs: object) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr("huggingface_hub.snapshot_download", unreachable)
    with pytest.raises(ValueError, match=r"can't be fetched .*no route.*give checkpoint ="):
        _ = BiomedClip().identity
