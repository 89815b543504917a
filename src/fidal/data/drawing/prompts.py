"""The part of a vision-language model on drawings, played by prototypes instead of sentences.

OpenPath asks BiomedCLIP how well "a dermoscopy image of X" fits an image. No such model knows these
drawings, and none can be fetched. In its place stand reference drawings, one set per class and per
kind of artefact, taken by cameras of no site and in no site's pool: the mean of a set in the
frozen encoder's space is that set's "prompt". What it says of an image is the cosine between the
two, times CLIP's scale, after the mean of all prompts is taken away from both.

Like the real thing it has never seen a site's images or labels, and it errs: light and lens differ
from site to site, and a mean does not tell a class well.
"""

from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fidal.data.benchmark import PromptScores
from fidal.data.drawing.artefacts import ARTEFACTS
from fidal.data.drawing.clinics import Camera
from fidal.data.drawing.gallery import Commission, gallery
from fidal.data.drawing.lesions import CLASSES
from fidal.encoders.base import Encoder
from fidal.encoders.cache import embed

SUBJECTS: Final = (*CLASSES, *ARTEFACTS)
EACH: Final = 32
"""Reference drawings per prompt."""
SCALE: Final = 100.0
_PLAIN: Final = Camera(
    cast=(1, 0.92, 0.92),
    light=(0.8, 1.0),
    slope=(0, 0.2),
    vignette=(0, 0.3),
    round_field=0.1,
    zoom=1,
    softness=(0.01, 0.03),
    grain=0.012,
)
CAMERAS: Final = (
    _PLAIN,
    replace(_PLAIN, cast=(1, 0.82, 0.8), softness=(0.01, 0.02)),
    replace(_PLAIN, cast=(0.92, 0.88, 0.78), light=(0.65, 0.9), softness=(0.02, 0.04), grain=0.02),
    replace(_PLAIN, cast=(0.95, 0.88, 1.02), vignette=(0.1, 0.4), round_field=0.3),
)
"""Plain, warm, dim and cool: a model that has seen the world has seen more than one camera."""


def prompt_scores(
    encoder: Encoder, embeddings: NDArray[np.float32], pixels: int, cache: Path
) -> PromptScores:
    """Scores of images with these embeddings, N x e, for the classes and then the artefacts."""
    prompts = _prototypes(encoder, pixels, cache)
    centre = prompts.mean(axis=0)
    cosine = _unit(_unit(embeddings) - centre) @ _unit(prompts - centre).T
    return PromptScores(
        logits=(SCALE * cosine).astype(np.float32),
        in_distribution=tuple(subject in CLASSES for subject in SUBJECTS),
    )


def _prototypes(encoder: Encoder, pixels: int, cache: Path) -> NDArray[np.float32]:
    """The mean of the unit embeddings of each subject's reference drawings, P x e."""
    orders = [
        Commission(subject, CAMERAS[copy % len(CAMERAS)], ("reference", subject, copy))
        for subject in SUBJECTS
        for copy in range(EACH)
    ]
    ids = ["-".join(map(str, order.purpose)) for order in orders]
    rows = _unit(embed(encoder, ids, gallery(orders, pixels, cache), cache))
    prototypes: NDArray[np.float32] = rows.reshape(len(SUBJECTS), EACH, -1).mean(
        axis=1, dtype=np.float32
    )
    return prototypes


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (rows / np.where(length > 0, length, 1)).astype(np.float32)
    return unit
