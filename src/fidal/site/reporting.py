"""What a site says about a query and an evaluation: counts for the wire, details for itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from pydantic import JsonValue

from fidal.data.sites import SiteData
from fidal.federation.messages import EvaluateReply, GateReport
from fidal.learning.feed import Feed
from fidal.learning.inference import infer
from fidal.learning.networks import Network
from fidal.rows import append_once
from fidal.storage import save_state
from fidal.types import OUTLIER, Query

BINS: Final = 15
"""Confidence bins of the expected calibration error."""
PREDICTIONS: Final = "predictions.safetensors"
"""A site's own file: class and confidence of each test image, as of the last evaluated round."""


def gate_report(query: Query, truth: NDArray[np.int64]) -> GateReport | None:
    """The diagnosis in numbers; with the whole pool's truth where it is known (a benchmark)."""
    said = query.diagnosis.gate
    if said is None:
        return None
    kept = query.scores["kept"].cpu().numpy().astype(bool)
    known = bool((truth >= OUTLIER).all())
    outlier = truth == OUTLIER
    return GateReport(
        rejected=said.rejected,
        cut=said.cut,
        separation=said.separation,
        ood_share=said.ood_share,
        auroc=said.auroc,
        recall=said.recall,
        id_loss=said.id_loss,
        true_recall=float((~kept[outlier]).mean()) if known and outlier.any() else None,
        true_id_loss=float((~kept[~outlier]).mean()) if known and (~outlier).any() else None,
    )


def write_query(
    folder: Path,
    round: int,
    query: Query,
    candidates: tuple[str, ...],
    asked: tuple[str, ...],
    answers: Mapping[str, int],
) -> None:
    """The site's own record: one line per round, and all candidates' scores beside it."""
    where = {sample: row for row, sample in enumerate(candidates)}
    rows = [where[sample] for sample in asked]
    # One copy each: read number by number from a GPU they would cost more than the query.
    scores = {name: x.cpu() for name, x in query.scores.items()}
    gate = query.diagnosis.gate
    row: dict[str, JsonValue] = {
        "round": round,
        "ids": list(asked),
        "answers": [answers.get(sample) for sample in asked],
        "scores": {name: x[rows].double().tolist() for name, x in scores.items()},
        "notes": [*query.diagnosis.notes, *(gate.flags if gate else ())],
        "terms": dict(query.diagnosis.terms),
    }
    append_once(folder / "queries.jsonl", [row], key=("round",))
    if scores:
        meta = {"ids": "\n".join(candidates)}
        save_state(folder / f"scores-{round}.safetensors", scores, meta)


def evaluate(
    network: Network, feed: Feed, data: SiteData, round: int, folder: Path
) -> EvaluateReply:
    """Confusion counts, expected calibration error and mean cross-entropy on the test images.

    What was predicted of each image is kept in the site's own `folder`, last round only: subgroups
    (sex, age, skin tone) can be looked at where the images are, and nothing of it is sent.
    """
    classes = len(data.classes)
    truth = torch.from_numpy(data.labels[data.test])
    logits = infer(network, feed, torch.from_numpy(data.test)).logits.float().cpu()
    predicted = logits.argmax(1)
    counts = torch.bincount(truth * classes + predicted, minlength=classes**2)
    confidence = logits.softmax(1).amax(1)
    save_state(
        folder / PREDICTIONS,
        {"predicted": predicted.to(torch.int32), "confidence": confidence},
        {"round": str(round), "ids": "\n".join(data.ids[row] for row in data.test.tolist())},
    )
    return EvaluateReply(
        site=data.site,
        round=round,
        confusion=tuple(tuple(row) for row in counts.reshape(classes, classes).tolist()),
        calibration_error=_calibration_error(confidence, predicted == truth),
        loss=float(F.cross_entropy(logits, truth)) if len(truth) else float("nan"),
    )


def _calibration_error(confidence: torch.Tensor, right: torch.Tensor) -> float:
    """ECE: mean over images of |accuracy - confidence| of the confidence bin they fall in."""
    if len(confidence) == 0:
        return float("nan")
    bin_of = (confidence * BINS).long().clamp(max=BINS - 1)
    gap = torch.zeros(BINS).index_add_(0, bin_of, confidence - right.float())
    return float(gap.abs().sum() / len(confidence))
