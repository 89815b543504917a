"""What an embedding costs: images per second of each encoder, with random weights.

python benchmarks/encoders.py                the encoders of the paper, and two others
python benchmarks/encoders.py --only chief   one
python benchmarks/encoders.py --markdown     as in docs/encoders.md

Preparation and network, 16 images at once or fewer where they are large; on a CPU in seconds of the
processor, so that what else runs on the machine does not count, with the threads that torch has.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import timm
import torch
from tables import show
from torch import nn

from fidal.encoders.architectures.efficientnet import B2, B5, EfficientNet
from fidal.encoders.architectures.swin import SwinTiny
from fidal.encoders.architectures.vit import VisionTransformer
from fidal.encoders.biomedclip import PREPARATION as BIOMEDCLIP
from fidal.encoders.chief import MEAN, STD
from fidal.encoders.mammo_clip import MEAN as GRAY
from fidal.encoders.mammo_clip import STD as GRAY_STD
from fidal.encoders.network import device, forward
from fidal.encoders.panderm import PREPARATION as PANDERM
from fidal.encoders.panderm import SHAPES
from fidal.encoders.preparation import Preparation

MAMMOGRAM = Preparation(None, (GRAY, GRAY, GRAY), (GRAY_STD, GRAY_STD, GRAY_STD), stretch=True)
PATCH = Preparation(224, MEAN, STD, resample="bicubic")


@dataclass(frozen=True)
class Case:
    """One encoder on images of a benchmark of the paper."""

    stored: tuple[int, int, int]
    preparation: Preparation
    network: Callable[[], nn.Module]
    images: int = 16


CASES = {
    "panderm large": Case(
        (224, 224, 3), PANDERM, lambda: VisionTransformer(*SHAPES["large"]), images=8
    ),
    "panderm base": Case((224, 224, 3), PANDERM, lambda: VisionTransformer(*SHAPES["base"])),
    "chief": Case((96, 96, 3), PATCH, SwinTiny),
    "mammo-clip b5": Case((1024, 768, 1), MAMMOGRAM, lambda: EfficientNet(B5), images=2),
    "mammo-clip b2": Case((1024, 768, 1), MAMMOGRAM, lambda: EfficientNet(B2), images=2),
    "biomedclip": Case(
        (224, 224, 3),
        BIOMEDCLIP,
        lambda: timm.create_model("vit_base_patch16_224", num_classes=512),
    ),
    "timm vit_small_patch14_dinov2, 224": Case(
        (224, 224, 3),
        PATCH,
        lambda: timm.create_model("vit_small_patch14_dinov2", num_classes=0, img_size=224),
    ),
    "timm tf_efficientnet_lite0": Case(
        (224, 224, 3), PATCH, lambda: timm.create_model("tf_efficientnet_lite0", num_classes=0)
    ),
}


def rate(case: Case, repeats: int) -> tuple[float, int]:
    """Images per second, the best of some repeats, and the length of an embedding."""
    network = case.network().eval().to(device(), memory_format=torch.channels_last)
    random = np.random.default_rng(0).integers(0, 256, (case.images, *case.stored), dtype=np.uint8)
    pixels = torch.from_numpy(random)
    best, width = 0.0, 0
    for _ in range(repeats):
        begun = _clock()
        with torch.inference_mode():
            seen = case.preparation(pixels.to(device()))
            seen = seen.contiguous(memory_format=torch.channels_last)
            width = forward(network, seen).cpu().shape[1]
        best = max(best, case.images / (_clock() - begun))
    return best, width


def _clock() -> float:
    return time.perf_counter() if torch.cuda.is_available() else time.process_time()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=list(CASES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--markdown", action="store_true")
    asked = parser.parse_args()
    rows = []
    for name, case in CASES.items():
        if asked.only in (None, name):
            images, width = rate(case, asked.repeats)
            height, across, channels = case.stored
            stored = f"{height} x {across} x {channels}"
            hours = 100_000 / images / 3600
            rows.append([name, stored, str(width), f"{images:.2f}", f"{hours:,.1f} h"])
    heads = ["encoder", "stored", "dimension", "images/s", "100,000 images"]
    title = f"Frozen encoders on {device()}, {torch.get_num_threads()} threads"
    show(title, heads, rows, asked.markdown)


if __name__ == "__main__":
    main()
