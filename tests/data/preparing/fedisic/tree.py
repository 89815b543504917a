"""Small trees with the folders, file names and columns of FedISIC's downloads."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image

CENTRES = {"0": (16, 8), "1": (12, 4), "2": (10, 4), "3": (8, 4), "4": (3, 1), "5": (2, 1)}
"""Training and test images."""
CLASSES = ("MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC")
COLUMNS = ("image", *CLASSES, "UNK", "target", "center", "fold", "fold2")
TINTS = np.array(
    [
        (90, 60, 50),
        (150, 100, 80),
        (190, 120, 120),
        (200, 150, 130),
        (120, 110, 100),
        (160, 60, 70),
        (170, 40, 90),
        (210, 170, 160),
    ]
)


def rows() -> list[dict[str, str]]:
    """FLamby's columns; every centre has all classes, in turn."""
    made = []
    for centre, (train, test) in CENTRES.items():
        for i in range(train + test):
            fold, target = ("train" if i < train else "test"), i % 8
            name = f"ISIC_{int(centre):03d}{i:04d}" + ("_downsampled" if centre == "1" else "")
            hot = {word: f"{float(k == target)}" for k, word in enumerate(CLASSES)}
            made.append(
                {"image": name, **hot, "UNK": "0.0", "target": str(target), "center": centre}
                | {"fold": fold, "fold2": f"{fold}_{centre}"}
            )
    return made


def outlier_rows(counts: tuple[int, ...] = (9, 6, 5, 4, 1, 1)) -> list[dict[str, str]]:
    """The rows that the open-set file adds: numbers for names, target 8."""
    sites = [str(centre) for centre, n in enumerate(counts) for _ in range(n)]
    hot = dict.fromkeys(CLASSES, "0.0")
    return [
        {"image": f"{7 * i + 100:04d}", **hot, "UNK": "1.0", "target": "8", "center": centre}
        | {"fold": "train", "fold2": f"train_{centre}"}
        for i, centre in enumerate(sites)
    ]


def write_split(path: Path, made: list[dict[str, str]], separator: str = ",") -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(made[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(made)
    return path


def lesion(target: int, rng: np.random.Generator) -> Image.Image:
    """A disc in the class's colour on skin, of any shape."""
    height, width = rng.integers(40, 64), rng.integers(64, 90)
    y, x = np.mgrid[:height, :width]
    inside = np.hypot(y - height / 2, x - width / 2) < height / 3
    colour = np.where(inside[..., None], TINTS[target], (225, 180, 160))
    noisy = colour + rng.normal(0, 8, (height, width, 3))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def photo(rng: np.random.Generator) -> Image.Image:
    """A limb before a cloth."""
    height, width = rng.integers(70, 99), rng.integers(50, 70)
    x = np.arange(width)[None, :, None]
    limb = np.where(abs(x - width / 2) < width / 5, (190, 140, 110), (60, 110, 150))
    noisy = limb + rng.normal(0, 20, (height, width, 3))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def isic(folder: Path) -> None:
    rng = np.random.default_rng(1)
    images = folder / "ISIC_2019_Training_Input"
    images.mkdir(parents=True)
    for row in rows():
        lesion(int(row["target"]), rng).save(images / f"{row['image']}.jpg", quality=90)


def ddi(folder: Path, n: int = 10) -> None:
    rng = np.random.default_rng(2)
    folder.mkdir(parents=True)
    lines = [",DDI_ID,DDI_file,skin_tone,malignant,disease"]
    for i in range(1, n + 1):
        photo(rng).convert("RGBA").save(folder / f"{i:06d}.png")
        lines.append(f"{i},{i},{i:06d}.png,{(12, 34, 56)[i % 3]},False,verruca-vulgaris")
    (folder / "ddi_metadata.csv").write_text("\n".join(lines) + "\n")


def fitzpatrick(folder: Path, n: int = 30) -> None:
    rng = np.random.default_rng(3)
    (folder / "images").mkdir(parents=True)
    lines = [
        "md5hash,fitzpatrick_scale,fitzpatrick_centaur,label,nine_partition_label,"
        "three_partition_label,qc,url,url_alphanum"
    ]
    for i in range(n):
        key = rng.bytes(16).hex()
        photo(rng).save(folder / "images" / f"{key}.jpg")
        lines.append(f'{key},{i % 6 + 1},3,"lichen, planus",inflammatory,benign,,http://x,x')
    (folder / "fitzpatrick17k.csv").write_text("\n".join(lines) + "\n")


def numbered(folder: Path) -> None:
    """The pre-converted outliers of the open-set file."""
    rng = np.random.default_rng(4)
    folder.mkdir(parents=True)
    for row in outlier_rows():
        np.save(folder / f"{row['image']}.npy", np.asarray(photo(rng)))


def downloads(folder: Path) -> list[Path]:
    """All that `outliers = drawn` needs; the split file lies in the first folder."""
    isic(folder / "isic")
    ddi(folder / "ddidiversedermatologyimages")
    fitzpatrick(folder / "fitzpatrick17k")
    write_split(folder / "isic" / "train_test_split", rows())
    return [folder / "isic", folder / "ddidiversedermatologyimages", folder / "fitzpatrick17k"]
