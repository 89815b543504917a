"""The benchmark's pictures and truth by image id, for what a report may show of its own data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import JsonValue
from torch import Tensor

from fidal.data import BENCHMARKS
from fidal.data.benchmark import Benchmark, Source
from fidal.parts import by_name
from fidal.types import OUTLIER, UNLABELLED


@dataclass(frozen=True, eq=False)
class Album:
    """A loaded benchmark, looked up by image id."""

    benchmark: Benchmark

    def label(self, sample: str) -> int:
        """A class, OUTLIER, or UNLABELLED where nobody knows."""
        row = self._rows.get(sample)
        return UNLABELLED if row is None else int(self.benchmark.manifest.label[row])

    def word(self, sample: str) -> str:
        """What the image shows: its class, or the kind of outlier if the manifest tells it."""
        manifest, label = self.benchmark.manifest, self.label(sample)
        if label >= 0:
            return manifest.classes[label]
        kinds = manifest.columns.get("kind")
        if label == OUTLIER and kinds is not None:
            return str(kinds[self._rows[sample]])
        return "OOD" if label == OUTLIER else "?"

    def picture(self, sample: str) -> NDArray[np.uint8] | None:
        """H x W x 3; None if the benchmark holds vectors or not this image."""
        row = self._rows.get(sample)
        if row is None or self.benchmark.inputs.ndim != 4:
            return None
        image = np.asarray(self.benchmark.inputs[row], dtype=np.uint8)
        return np.broadcast_to(image, (*image.shape[:2], 3))

    def coverage(self, samples: Sequence[str]) -> Tensor:
        """g(x) of the frozen encoder, n x e."""
        every = self.benchmark.coverage
        assert every is not None
        return torch.from_numpy(np.asarray(every[self.rows(samples)]))

    def rows(self, samples: Sequence[str]) -> NDArray[np.int64]:
        """Of the manifest; a ValueError if it does not hold one of them."""
        lacking = [sample for sample in samples if sample not in self._rows]
        if lacking:
            raise ValueError(
                f"{len(lacking)} images of the run, '{lacking[0]}' among them, are not in the "
                "benchmark any more"
            )
        return np.array([self._rows[sample] for sample in samples], dtype=np.int64)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {sample: row for row, sample in enumerate(self.benchmark.manifest.ids)}


def open_album(config: Mapping[str, JsonValue], cache: Path) -> Album:
    """The benchmark of a run's configuration, as pictures even if the run saw vectors of them."""
    source: Any = by_name("benchmark", BENCHMARKS)(config["benchmark"])
    assert isinstance(source, Source)
    return Album(source.bare().load(cache))
