"""A small BiomedCLIP in a folder like the one on its hub, and open_clip's own reading of it."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from fidal.encoders import biomedclip
from fidal.encoders.biomedclip import Towers
from tests.encoders.made import lively, noise

TRUNK = "vit_tiny_patch16_224"
DIMENSION = 16
BERT = {
    "vocab_size": 32,
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 256,
}
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "image", "of", "me", "##lano", "##ma"]


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """BiomedCLIP is this small one until the test ends."""
    monkeypatch.setattr(biomedclip, "TRUNK", TRUNK)
    monkeypatch.setattr(biomedclip, "BERT", BERT)
    monkeypatch.setattr(biomedclip, "DIMENSION", DIMENSION)


def towers() -> Towers:
    """Random ones."""
    network = lively(Towers(TRUNK, BERT, DIMENSION), noise(1, 224, 224))
    assert isinstance(network, Towers)
    lively(network.text, noise(1, 224, 224), by=0.2)
    network.logit_scale.data.fill_(4.4454)
    return network


def folder(path: Path, network: Towers) -> Path:
    """Weights, configuration and tokenizer as on the hub."""
    transformers = pytest.importorskip("transformers")
    path.mkdir(exist_ok=True)
    state = dict(network.state_dict())
    state["text.transformer.embeddings.position_ids"] = torch.arange(256)[None]
    torch.save(state, path / "open_clip_pytorch_model.bin")
    (path / "vocab.txt").write_text("\n".join(WORDS))
    transformers.BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(path)
    transformers.BertConfig(**BERT).save_pretrained(path / "bert")
    text = {
        "hf_model_name": str(path / "bert"),
        "hf_tokenizer_name": str(path),
        "hf_proj_type": "mlp",
        "hf_pooler_type": "cls_last_hidden_state_pooler",
        "context_length": 256,
    }
    vision = {"timm_model_name": TRUNK, "timm_pool": "", "timm_proj": "linear", "image_size": 224}
    model = {"embed_dim": DIMENSION, "vision_cfg": vision, "text_cfg": text}
    preprocess = {
        "mean": [0.48145466, 0.4578275, 0.40821073],
        "std": [0.26862954, 0.26130258, 0.27577711],
    }
    content = json.dumps({"model_cfg": model, "preprocess_cfg": preprocess})
    (path / "open_clip_config.json").write_text(content)
    return path


def by_open_clip(path: Path) -> tuple[Any, Any, Any]:
    """Network, preprocessing and tokenizer as open_clip loads the folder."""
    open_clip = pytest.importorskip("open_clip")
    network, preprocess = open_clip.create_model_from_pretrained(f"local-dir:{path}")
    return network.eval(), preprocess, open_clip.get_tokenizer(f"local-dir:{path}")
