"""What a gate did, how sure it can be, and what a person should know, in words."""

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor

from fidal.gates.crossfit import FEWEST
from fidal.gates.thresholds.base import Scores, Threshold, ascending
from fidal.gates.thresholds.known_null import KnownNull, id_share
from fidal.types import GateDiagnosis

NOTABLE_SHARE = 0.05
TAIL = 0.05
SQUEEZED = 0.6
"""Of the range of G, taken up by its lowest TAIL. Measured on SSCD: 0.16-0.49 on unit-length
embeddings, whatever the share of outliers; 0.74-0.78 where the embeddings' lengths vary."""


def diagnose(
    density: str,
    threshold: Threshold,
    scores: Tensor,
    cut: float,
    null: Tensor | None,
    foreign: Tensor,
) -> GateDiagnosis:
    """In: G of the candidates; the cut; cross-fitted scores of labelled ID and of outliers."""
    pool = ascending(scores)
    known = None if null is None else ascending(null)
    outliers = ascending(foreign)
    rejected = float((pool < cut).mean())
    if known is None:
        return GateDiagnosis(
            density=density,
            threshold=threshold.name,
            candidates=len(pool),
            rejected=rejected,
            cut=cut,
            separation=separation(pool, cut),
            flags=(
                f"fewer than {FEWEST} randomly drawn labelled ID images: the gate is unchecked"
                + (f", and {threshold.name} refuses nothing" if threshold.needs_null else ""),
            ),
        )
    return GateDiagnosis(
        density=density,
        threshold=threshold.name,
        candidates=len(pool),
        rejected=rejected,
        cut=cut,
        separation=separation(pool, cut),
        ood_share=1 - id_share(pool, known),
        auroc=auroc(known, outliers) if len(outliers) else None,
        recall=float((outliers < cut).mean()) if len(outliers) else None,
        id_loss=float((known < cut).mean()),
        flags=(
            *(threshold.caution(len(known)) if threshold.needs_null else ()),
            *_splits_id_images(threshold.name, pool, known, cut),
            *_squeezed(pool, known, cut),
        ),
    )


def _splits_id_images(threshold: str, pool: Scores, known: Scores, cut: float) -> tuple[str, ...]:
    """Otsu's fault: it must split, so it cuts through the ID images if there is little else."""
    rejected, id_loss = float((pool < cut).mean()), float((known < cut).mean())
    if rejected < NOTABLE_SHARE or id_share(pool, known) * id_loss < rejected / 2:
        return ()
    evident = KnownNull().cut(torch.from_numpy(pool), torch.from_numpy(known)) is not None
    what = "a pool that is mostly ID" if evident else "a pool that looks clean"
    return (
        f"{threshold} split {what}: it refused {rejected:.0%} of the candidates, and would "
        f"refuse {id_loss:.0%} of the labelled ID images",
    )


def _squeezed(pool: Scores, known: Scores, cut: float) -> tuple[str, ...]:
    """The fault of min-max: a few extreme scores leave the others no room to be told apart."""
    tail = float(np.quantile(pool, TAIL))
    rejected, id_loss = float((pool < cut).mean()), float((known < cut).mean())
    share = id_share(pool, known)
    overlooked = (1 - share) - (rejected - share * id_loss)
    if tail < SQUEEZED or overlooked < NOTABLE_SHARE:
        return ()
    return (
        f"the range of G is squeezed by a tail: the lowest {TAIL:.0%} of the candidates take up "
        f"{tail:.0%} of it; {rejected:.0%} were refused where about {1 - share:.0%} look foreign",
    )


def separation(pool: Scores, cut: float) -> float:
    """(mean of kept - mean of refused) / pooled standard deviation; 0 where nobody is refused."""
    refused, kept = pool[pool < cut], pool[pool >= cut]
    if len(refused) == 0:
        return 0.0
    within = (len(refused) * refused.var() + len(kept) * kept.var()) / len(pool)
    return float((kept.mean() - refused.mean()) / max(np.sqrt(within), 1e-12))


def auroc(known: Scores, outliers: Scores) -> float:
    """P(G of an ID image > G of an outlier), ties counting half."""
    ranks = rankdata(np.concatenate([known, outliers]))[: len(known)]
    return float((ranks.mean() - (len(known) + 1) / 2) / len(outliers))
