"""BiomedCLIP: images and sentences of biomedical articles in one space (Zhang et al. 2023)."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from fidal.checkpoints.files import CheckpointError, file_hash, read
from fidal.checkpoints.strict import fill
from fidal.encoders.base import Card
from fidal.encoders.extras import library
from fidal.encoders.network import NetworkEncoder, device, forward
from fidal.encoders.preparation import Preparation
from fidal.encoders.published import found

REPOSITORY: Final = "microsoft/BiomedCLIP-PubMedBERT_256-vit_base_patch16_224"
WEIGHTS: Final = "open_clip_pytorch_model.bin"
TOKENIZER: Final = (
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "special_tokens_map.json",
)
PREPARATION: Final = Preparation(
    size=224,
    mean=(0.48145466, 0.4578275, 0.40821073),
    std=(0.26862954, 0.26130258, 0.27577711),
    resample="bicubic",
)
DIMENSION: Final = 512
TRUNK: Final = "vit_base_patch16_224"
BERT: Final[Mapping[str, int]] = {
    "vocab_size": 30_522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
}
"""PubMedBERT, as its configuration says."""
CONTEXT: Final = 256
"""Tokens of a sentence."""
NO_WEIGHT: Final = "text.transformer.embeddings.position_ids"
"""The numbers 0 to 511, which transformers kept with the weights until 4.31."""


class BiomedClip(NetworkEncoder):
    """Biomedical images and text: ViT-B/16; g(x) is the projected class token, of length one."""

    name: ClassVar[str] = "biomedclip"
    cards: ClassVar[Mapping[str, Card]] = {
        "": Card(
            dimension=str(DIMENSION),
            size=str(PREPARATION),
            mean="0.4815 0.4578 0.4082",
            std="0.2686 0.2613 0.2758",
            licence="MIT",
            weights=f"Hugging Face {REPOSITORY}, or checkpoint = its {WEIGHTS}",
        )
    }
    checkpoint: Path | None = Field(
        default=None,
        description=f"{WEIGHTS}, the tokenizer's files beside it; from the hub if unset",
    )

    @property
    def dimension(self) -> int:
        """512."""
        return DIMENSION

    @property
    def preparation(self) -> Preparation:
        """CLIP's."""
        return PREPARATION

    @property
    def weights(self) -> str:
        """The file."""
        return file_hash(self._file())

    def network(self) -> "Towers":
        """Both towers; called, it is the image tower."""
        towers, file = Towers(TRUNK, BERT, DIMENSION), self._file()
        fill(
            towers, read(file), f"encoder 'biomedclip': {file.name}", lambda name: name == NO_WEIGHT
        )
        return towers

    def sentences(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """What to multiply g(x) with for the logits of each sentence: P x 512.

        Unit vectors of the text tower times the learned scale, CLIP's inverse temperature.
        """
        towers = self.network().eval().to(device())
        tokens = tokenizer(self._file().parent)(list(sentences)).to(device())
        with torch.inference_mode():
            rows = F.normalize(forward(towers.text, tokens), dim=1) * towers.logit_scale.exp()
        return rows.float().cpu().numpy()

    def _file(self) -> Path:
        return _fetched() if self.checkpoint is None else found(self, self.checkpoint)


class Towers(nn.Module):
    """A vision transformer and a BERT of open_clip, under the names of its checkpoints."""

    def __init__(self, trunk: str, bert: Mapping[str, int], dimension: int) -> None:
        super().__init__()
        timm_model = library("open_clip.timm_model", "biomedclip", "openclip")
        hf_model = library("open_clip.hf_model", "biomedclip", "openclip")
        config = library("transformers", "biomedclip", "openclip").BertConfig(**bert)
        self.visual = timm_model.TimmModel(trunk, dimension, pool="", proj="linear")
        self.text = hf_model.HFTextEncoder(
            "", dimension, config, "cls_last_hidden_state_pooler", "mlp", pretrained=False
        )
        self.text.transformer.pooler = None  # The class token is taken as it is.
        self.logit_scale = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        """In: images n x 3 x 224 x 224. Out: n x dimension, rows of length one."""
        return F.normalize(self.visual(x), dim=1)


def tokenizer(folder: Path) -> Any:
    """Sentences -> numbers of tokens, n x 256, from the files in `folder`; nothing is fetched."""
    open_clip = library("open_clip.tokenizer", "biomedclip", "openclip")
    try:
        return open_clip.HFTokenizer(str(folder), context_length=CONTEXT, local_files_only=True)
    except Exception as error:  # whatever transformers and its parsers raise
        why = str(error).partition("\n")[0]
        raise CheckpointError(
            f"encoder 'biomedclip' finds no tokenizer in {folder} ({why}); put these files of "
            f"{REPOSITORY} beside the weights: {', '.join(TOKENIZER)}"
        ) from error


@lru_cache(maxsize=1)
def _fetched() -> Path:
    """The weights in the hub's cache on this machine, fetched at the first time."""
    hub = library("huggingface_hub", "biomedclip", "openclip")
    try:
        folder = hub.snapshot_download(REPOSITORY, allow_patterns=[WEIGHTS, *TOKENIZER])
    except Exception as error:  # whatever the hub's client or the network raises
        why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        raise CheckpointError(
            f"encoder 'biomedclip': {REPOSITORY} can't be fetched ({why}); where there is no hub, "
            f"give checkpoint = its {WEIGHTS}, with the tokenizer's files beside it"
        ) from error
    return Path(folder) / WEIGHTS
