"""Where a site's training steps run: on the CPU as they come, on a GPU see `graphs.py`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from fidal.learning.objectives.base import Batch, Context


@dataclass(frozen=True, eq=False)
class Inputs:
    """All that differs between two steps of an epoch, on the device."""

    x: Tensor
    """Images n x H x W x 3, uint8, or vectors n x d."""
    targets: Batch
    draw: Tensor | None
    """Random numbers of the augmentation."""


Step = Callable[[Inputs, Context], Tensor]
"""One step of training; returns its loss, a scalar that the next step may overwrite."""


class Runner(Protocol):
    """Runs the steps of one site. Several runners may take turns."""

    def start(self, seed: int) -> None:
        """Before a round: what was computed on the device so far is seen by the steps to come.
        Dropout is drawn from `seed`."""

    def apart(self) -> AbstractContextManager[None]:
        """The site's own random state and, on a GPU, its own stream."""

    def __call__(self, inputs: Inputs, context: Context) -> Tensor:
        """Run one step, or on a GPU enqueue it; only within `apart`."""

    def join(self) -> None:
        """After a round: its steps are seen by whatever is computed on the device from now on."""


class Plain:
    """On the CPU, where a step is done when it returns."""

    def __init__(self, step: Step) -> None:
        self._step = step
        self._random = torch.get_rng_state()

    def start(self, seed: int) -> None:
        """See `Runner`."""
        self._random = torch.Generator().manual_seed(seed).get_state()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """See `Runner`."""
        others = torch.get_rng_state()
        torch.set_rng_state(self._random)
        try:
            yield
        finally:
            self._random = torch.get_rng_state()
            torch.set_rng_state(others)

    def __call__(self, inputs: Inputs, context: Context) -> Tensor:
        """See `Runner`."""
        return self._step(inputs, context)

    def join(self) -> None:
        """See `Runner`."""
