"""What an objective is: the heads a network gets, and the loss that trains them."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pydantic import Field
from torch import Tensor, nn, optim

from fidal.parts import Part
from fidal.types import Outputs


@dataclass(frozen=True, eq=False)
class Batch:
    """The targets of one training batch."""

    labels: Tensor
    """n, int64: a class 0..C-1, OUTLIER or UNLABELLED."""
    rows: Tensor
    """n, int64: which row of its own set (L_ID, L_OOD or U) each image is."""


@dataclass(frozen=True, eq=False)
class Context:
    """What a loss may know besides the batch: facts of one site in one communication round."""

    class_counts: Tensor
    """n_c, labelled images per class at this site, C."""
    n_outliers: int
    """|L_OOD| at this site. Only whether it is 0 may steer a loss: a captured step sees no more."""
    round: Tensor | int
    """Communication round t, 0..T-1, counted anew in each active-learning round. In training a
    float64 scalar on the device, since a captured step must not have it baked in."""
    rounds: int
    """T."""
    state: Mapping[str, Tensor] = field(default_factory=dict)
    """What `Objective.begin_epoch` returned; its vectors may have room behind the last entry."""


@dataclass(frozen=True, eq=False)
class Companion:
    """A module that helps training at one site and never leaves it, with its optimiser."""

    module: nn.Module
    optimiser: optim.Optimizer


class Optimiser(Part):
    """Optimiser that an objective asks for in place of the experiment's."""

    name: ClassVar[str] = "optimiser"
    kind: Literal["adamw", "sgd"] = "adamw"
    lr: float = Field(gt=0)
    momentum: float = Field(default=0.9, ge=0, lt=1, description="SGD only")
    weight_decay: float = Field(default=5e-4, ge=0)
    step: int | None = Field(default=None, ge=1, description="rounds between decays of lr")
    gamma: float = Field(default=0.5, gt=0, le=1, description="factor of one decay")


class Objective(Part):
    """Extra heads and a loss. Plain cross-entropy needs neither; see `cross_entropy.py`."""

    includes_outliers: ClassVar[bool] = False
    """Are the labelled outliers part of a training epoch?"""
    unlabelled_ratio: ClassVar[int] = 0
    """Unlabelled images per labelled one in each batch."""
    outputs: ClassVar[tuple[str, ...]] = ()
    """Names of what `pool_outputs` returns; a strategy finds them in `Pool.outputs`."""

    @property
    def optimiser(self) -> Optimiser | None:
        """An optimiser of its own, or None for the experiment's."""
        return None

    def heads(self, width: int, classes: int) -> dict[str, nn.Module]:
        """Modules from n x width features to n x ..., trained and averaged with the network."""
        return {}

    def companion(self, classes: int) -> Companion | None:
        """A fresh companion for one site and one active-learning round."""
        return None

    def begin_epoch(self, outlier_features: Tensor, classes: int) -> Mapping[str, Tensor]:
        """Facts computed once per epoch from h(L_OOD), |L_OOD| x d, and C, for `Context.state`.

        The trainer passes them only if `needs_epoch_features`.
        """
        return {}

    needs_epoch_features: ClassVar[bool] = False

    def update_companion(
        self,
        companion: Companion,
        heads: nn.ModuleDict,
        outputs: Outputs,
        batch: Batch,
        context: Context,
    ) -> None:
        """One step of the companion, taken before the network's own step on the same batch."""

    @abstractmethod
    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        """The scalar that one optimiser step descends."""

    def pool_outputs(self, outputs: Outputs, companion: Companion | None) -> Mapping[str, Tensor]:
        """What a strategy may see of the extra heads, for candidates, in evaluation mode."""
        return {name: outputs.heads[name] for name in self.outputs}
