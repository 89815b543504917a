"""Small trees with the folders, file names and columns of FedCamelyon's downloads."""

from pathlib import Path

import numpy as np
from PIL import Image

PATIENTS = {0: ("004", "009", "010", "012", "015"), 1: ("020", "021", "022"), 2: ("046", "051")}
PATIENTS |= {3: ("060", "067", "068", "072", "075"), 4: ("080", "081", "088", "089", "092")}
HEADER = ",patient,node,x_coord,y_coord,tumor,slide,center,split"
ARTEFACTS = {"blood": 25, "blur": 15, "bubble": 10, "damage": 12}


def rows(each: int = 8) -> list[str]:
    """`each` patches per patient, a quarter of them tumour."""
    made = []
    for centre, patients in PATIENTS.items():
        for slide, patient in enumerate(patients):
            for i in range(each):
                place = f"{patient},{slide % 5},{3008 + 32 * i},{21000 + 96 * i}"
                made.append(f"{len(made)},{place},{int(i % 4 == 0)},{slide},{centre},{i % 2}")
    return made


def patch_path(folder: Path, row: str) -> Path:
    _, patient, node, x, y, *_ = row.split(",")
    name = f"patient_{patient}_node_{node}"
    return folder / "patches" / name / f"patch_{name}_x_{x}_y_{y}.png"


def wilds(folder: Path) -> Path:
    rng = np.random.default_rng(1)
    for row in rows():
        path = patch_path(folder, row)
        path.parent.mkdir(parents=True, exist_ok=True)
        nuclei = rng.random((24, 24, 1)) < (0.6 if row.split(",")[5] == "1" else 0.2)
        colours = np.where(nuclei, (90, 40, 120), (230, 190, 215)).astype(np.uint8)
        alpha = np.full((24, 24, 1), 255, np.uint8)
        patch = np.concatenate([colours, alpha], axis=2).repeat(4, 0).repeat(4, 1)
        Image.fromarray(patch).save(path)
    (folder / "metadata.csv").write_text("\n".join([HEADER, *rows()]) + "\n")
    return folder


def artefacts(folder: Path, counts: dict[str, int] = ARTEFACTS) -> Path:
    rng = np.random.default_rng(2)
    tints = {"blood": (180, 20, 30), "blur": (200, 160, 190), "bubble": (220, 220, 200)}
    for number, (kind, n) in enumerate((counts | {"fold": 4, "artifact_free": 4}).items()):
        for i in range(n):
            split = ("training", "validation", "test")[i % 3]
            place = folder / split / kind
            place.mkdir(parents=True, exist_ok=True)
            tint = np.array([*tints.get(kind, (150, 120, 10 * number)), 255])
            patch = (tint + rng.integers(-9, 9, (28, 28, 4))).clip(0, 255).astype(np.uint8)
            patch = patch.repeat(8, 0).repeat(8, 1)
            Image.fromarray(patch).save(place / f"{split}_{kind}_{i}.png")
            if kind == "fold":
                Image.fromarray(patch).save(place / f"{split}_{kind}_20x_{i}.png")
    return folder


def downloads(folder: Path) -> list[Path]:
    return [wilds(folder / "camelyon17_v1.0"), artefacts(folder / "HistoArtifacts")]
