"""Pools of made-up clinics, and a federation of images with an embedding file, for pilots."""

from pathlib import Path
from typing import Any

import numpy as np

from fidal.data.manifest import read_manifest
from fidal.pilot.pools import SitePool
from tests.gates.clinic import clinic
from tests.small import images, table


def pool(
    site: str = "east", seed: int = 0, ood_share: float = 0.3, known: bool = True, **sizes: int
) -> SitePool:
    made = clinic(seed, ood_share, **sizes)
    return SitePool(
        site=site,
        candidates=made.candidates,
        labelled=made.labelled,
        labels=made.labels,
        outliers=made.outliers,
        foreign=made.is_outlier.numpy() if known else None,
    )


def federation(folder: Path, unlabelled: int = 0, test: bool = True) -> dict[str, Any]:
    """A configuration: images of `tests.small`, and embeddings in which OOD lies apart.

    With `unlabelled` the last so many training images of each site lose their label; without
    `test` there are no test images.
    """
    path = images(folder, train=60)
    truth = read_manifest(path)
    rng = np.random.default_rng(3)
    place = 2.0 * np.eye(8)[truth.label] * (truth.label >= 0)[:, None]
    place += 6.0 * np.eye(8)[7] * (truth.label < 0)[:, None]
    vectors = place + rng.normal(size=place.shape)
    np.savez(folder / "g.npz", id=np.array(truth.ids), embedding=vectors)
    header, *lines = path.read_text().splitlines()
    kept = []
    for site in ("east", "west"):
        own = [line.split(",") for line in lines if f",{site},train," in line]
        for row in own[len(own) - unlabelled :]:
            row[3] = ""
        kept += own
        kept += [line.split(",") for line in lines if test and f",{site},test," in line]
    path.write_text("\n".join([header, *(",".join(row) for row in kept)]) + "\n")
    config = table(path, strategy="fidal", budget=24)
    source = {"embeddings": str(folder / "g.npz"), "classes": ["blue", "green", "red"]}
    return {**config, "benchmark": {**config["benchmark"], **source}}
