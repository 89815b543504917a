"""Batches of a site's inputs on the device that trains."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RESIDENT_SHARE: Final = 0.5
"""Inputs stay on a GPU if they take at most this share of its free memory."""

AHEAD: Final = 3
"""Batches gathered while the GPU works on earlier ones, for inputs that are not resident."""


class Feed:
    """A site's inputs: uint8 images N x H x W x 1 or 3, or float32 vectors N x d, decoded already.

    On a GPU they are resident where they fit; else a thread gathers each batch, from memory-mapped
    files too, into pinned memory, from where it is copied while the GPU computes. Worker processes
    would only add a copy: there is nothing left to decode.
    """

    def __init__(self, inputs: NDArray[np.uint8] | NDArray[np.float32], device: torch.device):
        self.device = device
        self._inputs = inputs
        self._resident: Tensor | None = None
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            if inputs.nbytes <= RESIDENT_SHARE * free:
                self._resident = torch.from_numpy(np.ascontiguousarray(inputs)).to(device)

    def __len__(self) -> int:
        return len(self._inputs)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input."""
        return tuple(self._inputs.shape[1:])

    def take(self, rows: Tensor) -> Tensor:
        """Inputs of these rows (CPU, int64), as the network takes them."""
        return decode(next(self.batches([rows])))

    def batches(self, parts: Sequence[Tensor]) -> Iterator[Tensor]:
        """The inputs of each part (rows, CPU, int64) as they are stored, on the device, in turn."""
        if self._resident is not None:
            for rows in _moved(parts, self.device):
                yield self._resident[rows]
        elif self.device.type == "cuda":
            yield from self._prefetched(parts)
        else:
            for rows in parts:
                yield self._gathered(rows)

    def _prefetched(self, parts: Sequence[Tensor]) -> Iterator[Tensor]:
        """Pinned memory is not used again before its copy is over: torch's allocator sees to it."""
        with ThreadPoolExecutor(1) as thread:
            coming = deque(thread.submit(self._pinned, rows) for rows in parts[:AHEAD])
            for rows in [*parts[AHEAD:], *[None] * len(coming)]:
                batch = coming.popleft().result()
                if rows is not None:
                    coming.append(thread.submit(self._pinned, rows))
                yield batch.to(self.device, non_blocking=True)

    def _pinned(self, rows: Tensor) -> Tensor:
        return self._gathered(rows).pin_memory()

    def _gathered(self, rows: Tensor) -> Tensor:
        return torch.from_numpy(self._inputs[rows.numpy()])


def decode(batch: Tensor) -> Tensor:
    """uint8 images n x H x W x 3 -> n x 3 x H x W in [0, 1]; vectors n x d stay as they are.

    Grayscale, n x H x W x 1, is repeated to three channels.
    """
    if batch.dtype == torch.uint8:
        # NHWC in memory seen as NCHW is channels-last: what convolutions like best.
        images = batch.expand(-1, -1, -1, 3).permute(0, 3, 1, 2)
        return images.to(torch.float32, memory_format=torch.channels_last).div_(255)
    return batch


def _moved(parts: Sequence[Tensor], device: torch.device) -> tuple[Tensor, ...]:
    """All rows by one copy."""
    rows = torch.cat(list(parts)).pin_memory().to(device, non_blocking=True)
    return torch.split(rows, [len(part) for part in parts])
