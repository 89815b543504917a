"""An encoder that somebody exported to ONNX."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field

from fidal.checkpoints.files import CheckpointError, file_hash
from fidal.encoders.base import Card, Encoder, check_images
from fidal.encoders.extras import library
from fidal.encoders.preparation import Preparation, Resample, Triple

TYPES: Final[Mapping[str, type[np.floating]]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}


class OnnxFile(Encoder):
    """A network in an ONNX file: one input n x 3 x H x W, embeddings n x e."""

    name: ClassVar[str] = "onnx"
    cards: ClassVar[Mapping[str, Card]] = {
        "": Card(
            dimension="the file's",
            size="size",
            mean="mean",
            std="std",
            licence="the file's",
            weights="in the file",
        )
    }
    file: Path = Field(description="the .onnx file, with the weights in it")
    size: int | None = Field(
        default=224, ge=1, description='pixels that it sees; "none": images as they are stored'
    )
    mean: Triple = Field(default=(0.485, 0.456, 0.406), description="of images in [0, 1]")
    std: Triple = Field(default=(0.229, 0.224, 0.225), description="of images in [0, 1]")
    resample: Resample = Field(default="bilinear", description="how images are resized")
    output: str | None = Field(
        default=None, description="which output is g(x), where the file has several"
    )
    batch: int = Field(default=32, ge=1, description="images at once: less needs less memory")

    @property
    def dimension(self) -> int:
        """What the file gives for a black image."""
        session = _session(self.file, file_hash(self.file))
        sides = [side if isinstance(side, int) else 224 for side in _input(session).shape[2:]]
        size = sides if self.size is None else [self.size, self.size]
        return int(self._run(session, np.zeros((1, *size, 3), dtype=np.uint8)).shape[1])

    @property
    def preparation(self) -> Preparation:
        """By the fields of this encoder."""
        return Preparation(self.size, self.mean, self.std, resample=self.resample)

    @property
    def identity(self) -> str:
        """Preparation, output and file."""
        return f"{self.name} {self.preparation!r} {self.output} {file_hash(self.file)}"

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """In: n x H x W x 3 or n x H x W x 1. Out: n x e."""
        check_images(self, images)
        session = _session(self.file, file_hash(self.file))
        fixed = _input(session).shape[0]
        step = fixed if isinstance(fixed, int) else self.batch
        parts = [
            self._run(session, np.array(images[start : start + step]))
            for start in range(0, len(images), step)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimension), dtype=np.float32)

    def release(self) -> None:
        """See the base class."""
        _session.cache_clear()

    def _run(self, session: Any, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """g of one batch; a file that takes a fixed number gets black images for those missing."""
        entry, n = _input(session), len(images)
        if isinstance(entry.shape[0], int):
            missing = np.zeros((entry.shape[0] - n, *images.shape[1:]), dtype=np.uint8)
            images = np.concatenate([images, missing])
        pixels = self.preparation(torch.from_numpy(images)).numpy().astype(TYPES[entry.type])
        (rows,) = session.run([self._output(session)], {entry.name: pixels})
        if rows.ndim != 2:
            raise ValueError(
                f"encoder 'onnx': output '{self._output(session)}' of {self.file} has the shape "
                f"{rows.shape}, which is not n x e; choose another with output =, or export the "
                "network with its pooling"
            )
        return rows[:n].astype(np.float32)  # type: ignore[no-any-return]

    def _output(self, session: Any) -> str:
        names = [str(output.name) for output in session.get_outputs()]
        if self.output is None and len(names) == 1:
            return names[0]
        if self.output not in names:
            raise ValueError(
                f"encoder 'onnx': {self.file} has the outputs {', '.join(names)}; choose the one "
                "that is n x e with output ="
            )
        return self.output


def _input(session: Any) -> Any:
    return session.get_inputs()[0]


@lru_cache(maxsize=1)
def _session(file: Path, content: str) -> Any:
    """`content` is an argument so that a file that changed on the disk is read again."""
    onnxruntime = library("onnxruntime", "onnx", "onnx")
    try:
        # From bytes, so that weights in other files, which `content` would not cover, are refused.
        session = onnxruntime.InferenceSession(
            file.read_bytes(), providers=onnxruntime.get_available_providers()
        )
    except Exception as error:  # onnxruntime has a class of its own for each of its refusals
        raise CheckpointError(
            f"encoder 'onnx': {file} can't be opened ({str(error).splitlines()[0]}); it must be "
            "one whole ONNX file with its weights inside (torch.onnx.export: external_data=False)"
        ) from error
    inputs = [(entry.type, len(entry.shape)) for entry in session.get_inputs()]
    if len(inputs) != 1 or inputs[0][0] not in TYPES or inputs[0][1] != 4:
        raise ValueError(
            f"encoder 'onnx': {file} takes {inputs}; it must take one tensor of floats, "
            "n x 3 x H x W"
        )
    return session
