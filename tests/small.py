"""A federation of two clinics with images of 16 pixels: a whole run takes half a second."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from fidal.experiment.config import make_experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import Run
from fidal.federation.state import Told

SITES = ("east", "west")
COLOURS = {"blue": (40, 60, 200), "green": (50, 180, 60), "red": (200, 60, 50)}


def images(
    folder: Path,
    train: int = 30,
    test: int = 12,
    ood: int = 3,
    sites: tuple[str, ...] = SITES,
    foreign: str = "",
) -> Path:
    """Squares in the class's colour; every `ood`-th training image is grey stripes instead, and at
    the site `foreign` all are.

    Out: the manifest's path.
    """
    rng = np.random.default_rng(7)
    folder.mkdir(parents=True, exist_ok=True)
    lines = ["image,site,split,label"]
    for site in sites:
        for i in range(train + test):
            split = "train" if i < train else "test"
            odd = split == "train" and (i % ood == 0 or site == foreign)
            label = "ood" if odd else rng.choice(list(COLOURS))
            name = f"{site}-{rng.integers(10**9):09d}.png"
            Image.fromarray(_picture(label, rng)).save(folder / name)
            lines.append(f"{name},{site},{split},{label}")
    (folder / "manifest.csv").write_text("\n".join(lines) + "\n")
    return folder / "manifest.csv"


def _picture(label: str, rng: np.random.Generator) -> np.ndarray:
    if label == "ood":
        stripes = np.where(np.arange(16) % 4 < 2, 60, 190)
        return np.broadcast_to(stripes[:, None, None], (16, 16, 3)).astype(np.uint8)
    colour = np.array(COLOURS[label]) + rng.normal(0, 25, (16, 16, 3))
    return colour.clip(0, 255).astype(np.uint8)


def table(manifest: Path, **fields: object) -> dict[str, Any]:
    """A configuration on these images; `fields` over it."""
    return {
        "name": "small",
        "rounds": 2,
        "budget": 5,
        "benchmark": {"name": "folder", "manifest": str(manifest), "size": 16},
        "training": {"rounds": 2, "batch_size": 8, "device": "cpu", "optimiser": {"lr": 3e-3}},
        "strategy": "random",
        **fields,
    }


def go(config: dict[str, Any], folder: Path, told: Told | None = None) -> RunFolder:
    """Run it, or go on with it, with the cache beside the manifest."""
    cache = Path(config["benchmark"]["manifest"]).parent / "cache"
    run = Run(make_experiment(config), RunFolder(folder))
    run.go(cache, told)
    return run.folder
