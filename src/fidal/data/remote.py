"""remote: images that lie at the sites of a federation. Here is only what the network must know."""

from pathlib import Path
from typing import ClassVar

from pydantic import Field, field_validator

from fidal.data.benchmark import Benchmark, DataAbsent, Source


class Remote(Source):
    """Images that lie at the sites; each site's own configuration says where."""

    name: ClassVar[str] = "remote"
    classes: tuple[str, ...] = Field(min_length=2, description="the classes in order")
    shape: tuple[int, ...] = Field(
        description="of one input: [height, width, 3] for images, [d] for vectors"
    )

    @field_validator("shape")
    @classmethod
    def _of_an_input(cls, shape: tuple[int, ...]) -> tuple[int, ...]:
        image = len(shape) == 3 and shape[2] == 3
        if not (image or len(shape) == 1) or min(shape) < 1:
            raise ValueError(f"{list(shape)} is neither [height, width, 3] nor [d]")
        return shape

    def load(self, cache: Path) -> Benchmark:
        """There is nothing to load."""
        raise DataAbsent(
            "benchmark 'remote' stands for images that lie at the sites; a federation of them is "
            "run by `fidal federation run`, see docs/deploy.md"
        )
