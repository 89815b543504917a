"""What a site knows at the start of a round: its images by what its ledger says of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fidal.data.sites import SiteData
from fidal.site.ledger import Ledger
from fidal.types import OUTLIER


@dataclass(frozen=True, eq=False)
class Knowledge:
    """Rows of the site's inputs. Labelled ones in the order of their answers."""

    labelled: NDArray[np.int64]
    labels: NDArray[np.int64]
    random_draw: NDArray[np.bool_]
    """Which of the labelled the random warm-up had asked."""
    outliers: NDArray[np.int64]
    unasked: NDArray[np.int64]
    """Of those that are in the pool by then."""


def known_before(round: int, data: SiteData, ledger: Ledger) -> Knowledge:
    """As the answers of the rounds before `round` have it: a repeated query sees what the first
    one saw, whatever has been answered since.
    """
    asked = {
        sample
        for earlier in ledger.rounds()
        if earlier < round
        for sample in ledger.worklist(earlier) or ()
    }
    warm_up = set(ledger.worklist(0) or ())
    row_of = {data.ids[row]: row for row in data.train.tolist()}
    gone = len(asked - row_of.keys())
    if gone:
        raise ValueError(
            f"site '{data.site}': {gone} images that its ledger asked are not in its training data "
            "any more; give the site the images it had, or start a new run"
        )
    here = data.train if data.since is None else data.train[data.since[data.train] <= round]
    answers = {row_of[s]: label for s, label in ledger.answers().items() if s in asked}
    labelled = [row for row, label in answers.items() if label != OUTLIER]
    return Knowledge(
        labelled=np.array(labelled, dtype=np.int64),
        labels=np.array([answers[row] for row in labelled], dtype=np.int64),
        random_draw=np.array([data.ids[row] in warm_up for row in labelled], dtype=np.bool_),
        outliers=np.array([r for r, label in answers.items() if label == OUTLIER], dtype=np.int64),
        unasked=np.array([r for r in here.tolist() if data.ids[r] not in asked], np.int64),
    )
