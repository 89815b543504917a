"""LfOSA: query what a detector is most active on (Ning et al., CVPR 2022)."""

import warnings
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from fidal.learning.objectives.detector import Detector
from fidal.strategies.base import AnyObjective, Pick, Strategy
from fidal.types import Diagnosis, Pool

UNFIT = -1.0
"""Score of a candidate that is alone in its predicted class: two components need two points."""


class LfOSA(Strategy):
    """The B candidates most surely of a known class, by the local model's detector.

    Each candidate is predicted as one of C + 1 classes; a Gaussian mixture of two components is
    fitted to the largest logits within each; the score is the posterior of the component with the
    larger mean, and 0 for the predicted unknown. Posteriors saturate: many are exactly 1 and the
    choice among them is random, as is all of it where the detector has collapsed.

    LfOSA's code leaves queried outliers in the pool, so that they can be queried again; here
    nothing is asked twice. PromptGate's port takes 1 - posterior and so prefers the least active:
    that is not LfOSA, and not what its reported purities (73-93 %) come from.
    """

    name: ClassVar[str] = "lfosa"
    objective: AnyObjective = Field(
        default=Detector(), description="extra heads of the network and the training loss"
    )

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """The largest scores, ties at random; single members of their class come last."""
        logits = pool.outputs["detector"]
        score = known_posterior(logits.double().cpu().numpy(), rng)
        order = np.lexsort((rng.permutation(len(score)), -score))[:budget]
        known = (logits.argmax(1) < logits.shape[1] - 1).cpu().numpy()
        refused = ~known | (score == UNFIT)
        return Pick(
            rows=torch.from_numpy(order).to(logits.device),
            scores={"posterior": torch.from_numpy(score).to(logits)},
            diagnosis=Diagnosis(
                filled=int(refused[order].sum()),
                terms={"share_predicted_known": float(known.mean())},
            ),
        )


def known_posterior(logits: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Per predicted class, P(component of the larger mean | largest logit). In: n x (C+1). Out: n.

    The logits are taken raw, without the temperature of the training loss.
    """
    activation, predicted = logits.max(1), logits.argmax(1)
    unknown = logits.shape[1] - 1
    score = np.full(len(logits), UNFIT)
    for c in np.unique(predicted):
        members = np.flatnonzero(predicted == c)
        if c == unknown:
            score[members] = 0
        elif len(members) > 1:
            score[members] = _upper_posterior(activation[members], rng)
    return score


def _upper_posterior(x: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    mixture = GaussianMixture(
        2, max_iter=10, tol=1e-2, reg_covar=5e-4, random_state=int(rng.integers(2**31))
    )
    with warnings.catch_warnings():
        # Ten iterations often do not converge, and equal activations make one component of two.
        warnings.simplefilter("ignore", ConvergenceWarning)
        posterior: NDArray[np.float64] = mixture.fit(x[:, None]).predict_proba(x[:, None])
    return posterior[:, mixture.means_.argmax()]
