"""From networks and knowledge to the `Pool` that a strategy sees."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fidal.data.sites import SiteData
from fidal.learning.feed import Feed
from fidal.learning.inference import infer
from fidal.learning.networks import Network
from fidal.learning.trainer import Learner
from fidal.site.knowledge import Knowledge
from fidal.types import Labelled, Outliers, Pool, Prompts


def make_pool(
    data: SiteData,
    known: Knowledge,
    candidates: NDArray[np.int64],
    global_network: Network,
    local: Learner,
    feed: Feed,
    round: int,
) -> Pool:
    """Runs both networks over candidates and labelled images. Candidates are in order of ids."""
    device = feed.device
    rows = torch.from_numpy(np.concatenate([candidates, known.labelled, known.outliers]))
    sizes = [len(candidates), len(known.labelled), len(known.outliers)]
    ours = infer(local.network, feed, rows, local.objective, local.companion)
    theirs = infer(global_network, feed, rows)
    u, labelled, outliers = torch.split(ours.features, sizes)
    global_u, global_labelled, _ = torch.split(theirs.features, sizes)

    def coverage(of: NDArray[np.int64]) -> Tensor | None:
        return None if data.coverage is None else torch.from_numpy(data.coverage[of]).to(device)

    prompts = data.prompts
    return Pool(
        site=data.site,
        round=round,
        ids=tuple(data.ids[row] for row in candidates.tolist()),
        global_logits=theirs.logits[: sizes[0]],
        local_logits=ours.logits[: sizes[0]],
        features=u,
        labelled=Labelled(
            labelled,
            torch.from_numpy(known.labels).to(device),
            coverage(known.labelled),
            global_labelled,
            torch.from_numpy(known.random_draw).to(device),
        ),
        outliers=Outliers(outliers, coverage(known.outliers)),
        global_features=global_u,
        coverage=coverage(candidates),
        prompts=None
        if prompts is None
        else Prompts(
            torch.from_numpy(prompts.logits[candidates]).to(device), prompts.in_distribution
        ),
        outputs={name: x[: sizes[0]] for name, x in ours.outputs.items()},
    )
