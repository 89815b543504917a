"""Prompts: how well sentences fit each image, as BiomedCLIP sees it (OpenPath's first stage)."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from fidal.arrays import keep, kept
from fidal.data.benchmark import PromptScores
from fidal.data.sentences import Sentences, read_sentences
from fidal.encoders.biomedclip import BiomedClip
from fidal.encoders.cache import embed
from fidal.parts import Part


class Prompts(Part):
    """Sentences of classes and of other things, and the encoder that compares images with them."""

    name: ClassVar[str] = "prompts"
    sentences: str = Field(description="fedisic, fedcamelyon, fedembed, or a TOML file")
    encoder: BiomedClip = Field(
        default=BiomedClip(), description="what sees images and reads sentences"
    )

    def scores(self, ids: Sequence[str], images: NDArray[np.uint8], cache: Path) -> PromptScores:
        """Logits N x P: the cosines of images and sentences times the encoder's scale.

        Both sides are kept below `cache`, the images' as coverage features of this encoder are.
        """
        sentences = read_sentences(self.sentences)
        rows = embed(self.encoder, ids, images, cache)
        return PromptScores(rows @ self._text(sentences, cache).T, sentences.of_classes)

    def _text(self, sentences: Sentences, cache: Path) -> NDArray[np.float32]:
        """The sentences' side, P x e; computed unless it is in the cache."""
        content = json.dumps([self.encoder.identity, sentences.texts])
        key = hashlib.sha256(content.encode()).hexdigest()[:40]
        path = cache / "embeddings" / self.encoder.name / f"text-{key}.npz"
        found = kept(path, (len(sentences.texts), self.encoder.dimension), np.float32)
        if found is None:
            found = self.encoder.sentences(sentences.texts)
            keep(path, found)
        return found


def _by_sentences(value: object) -> object:
    """As other parts go by their name, these go by their sentences: "fedisic", or a table."""
    table = {"name": value} if isinstance(value, str) else value
    if isinstance(table, dict) and table.get("name", Prompts.name) != Prompts.name:
        rest = {key: field for key, field in table.items() if key != "name"}
        return {"sentences": table["name"], **rest}
    return table


AnyPrompts = Annotated[Prompts, BeforeValidator(_by_sentences)]
