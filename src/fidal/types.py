"""What flows between the parts: frozen dataclasses, no logic.

Notation of the paper: U is a site's unlabelled candidates, L_ID its labelled in-distribution
images, L_OOD its labelled outliers, h(x) the penultimate features of the site's local model,
g(x) the features of the frozen foundation-model encoder, C the number of classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:  # the annotator's page and the ledger start without torch
    from torch import Tensor

OUTLIER: Final = -1
"""The oracle's answer "does not belong here", wherever a class index would stand."""

UNLABELLED: Final = -2
"""The label of an image that nobody has looked at yet."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """L_ID: the images of one site that got a class. n may be zero."""

    features: Tensor
    """h(x), n x d."""
    labels: Tensor
    """Class indices 0..C-1, n, int64."""
    coverage: Tensor | None = None
    """g(x), n x e."""
    global_features: Tensor | None = None
    """Penultimate features of the global model, n x d."""
    random_draw: Tensor | None = None
    """Which were drawn at random (the warm-up) and so stand for the pool's ID images, n, bool.
    None says that all were."""


@dataclass(frozen=True, eq=False)
class Outliers:
    """L_OOD: the images of one site that were answered "does not belong here". n may be zero."""

    features: Tensor
    """h(x), n x d."""
    coverage: Tensor | None = None
    """g(x), n x e."""


@dataclass(frozen=True, eq=False)
class Prompts:
    """How alike each candidate and each text prompt are to a frozen vision-language encoder."""

    logits: Tensor
    """Scaled image-text similarities, |U| x P."""
    in_distribution: tuple[bool, ...]
    """For each of the P prompts: does it describe a class (True) or a foreign image (False)?"""


@dataclass(frozen=True, eq=False)
class Pool:
    """All that a strategy may see at one site in one round. Candidates' labels are not in it."""

    site: str
    round: int
    """Query round, 1 for the first query after the random warm-up."""
    ids: tuple[str, ...]
    """Stable ids of the candidates U."""
    global_logits: Tensor
    """|U| x C, of the model averaged over sites."""
    local_logits: Tensor
    """|U| x C, of the site's own model after its last local epoch."""
    features: Tensor
    """h(x), |U| x d."""
    labelled: Labelled
    outliers: Outliers
    global_features: Tensor | None = None
    """Penultimate features of the global model, |U| x d."""
    coverage: Tensor | None = None
    """g(x), |U| x e."""
    prompts: Prompts | None = None
    outputs: Mapping[str, Tensor] = field(default_factory=dict)
    """What the extra heads of the strategy's objective say about U (local model), |U| x ..."""


@dataclass(frozen=True)
class GateDiagnosis:
    """What a gate did at one site in one round, and how sure it can be."""

    density: str
    threshold: str
    candidates: int
    rejected: float
    """Share of the candidates refused."""
    cut: float
    """The threshold on G, which lies in [0, 1]."""
    separation: float
    """Distance between the means of kept and refused G in units of their pooled spread."""
    ood_share: float | None = None
    """Estimated share of outliers in the pool."""
    auroc: float | None = None
    """Of G on labelled outliers against (cross-fitted) labelled ID; None without outliers."""
    recall: float | None = None
    """Share of the labelled outliers that the gate would have refused."""
    id_loss: float | None = None
    """Share of the (cross-fitted) labelled ID that the gate would have refused."""
    flags: tuple[str, ...] = ()
    """What a person should know, in words ("off: fewer than two labelled ID images", ...)."""


@dataclass(frozen=True)
class Diagnosis:
    """What a strategy reports about its own query. It stays at the site, like the scores."""

    gate: GateDiagnosis | None = None
    filled: int = 0
    """How many of the chosen had been refused and only fill the budget."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """Scalars worth logging, e.g. the spread of each term of the score."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Query:
    """A strategy's answer: which candidates to show the expert, best first."""

    ids: tuple[str, ...]
    scores: Mapping[str, Tensor] = field(default_factory=dict)
    """Per-candidate numbers behind the choice, each |U| in the order of `Pool.ids`."""
    diagnosis: Diagnosis = field(default_factory=Diagnosis)


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a network says about a batch of n images."""

    logits: Tensor
    """n x C."""
    features: Tensor
    """Penultimate features, n x d."""
    heads: Mapping[str, Tensor] = field(default_factory=dict)
    """One n x ... tensor per extra head of the objective."""
    spatial: Tensor | None = None
    """Last feature map of a convolutional network, n x channels x height x width."""
