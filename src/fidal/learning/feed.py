"""Batches of a site's inputs on the device that trains."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

RESIDENT_SHARE = 0.5
"""Inputs stay on a GPU if they take at most this share of its free memory."""


class Feed:
    """A site's inputs: uint8 images N x H x W x 3 or float32 vectors N x d, decoded already.

    On a GPU they are resident where they fit; else each batch is copied, memory-mapped files
    included. Workers would only add a copy: there is nothing left to decode.
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
        """Inputs of these rows (CPU, int64): images n x 3 x H x W in [0, 1], or vectors n x d."""
        if self._resident is not None:
            batch = self._resident[rows.to(self.device)]
        else:
            batch = torch.from_numpy(self._inputs[rows.numpy()]).to(self.device)
        if batch.dtype == torch.uint8:
            # NHWC in memory seen as NCHW is channels-last: what convolutions like best.
            return batch.permute(0, 3, 1, 2).to(torch.float32).div_(255)
        return batch
