"""Made-up runs, in exactly the files and rows of a real one."""

import json
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from pydantic import JsonValue

from fidal.experiment.metrics import accuracy, balanced_accuracy, pooled, purity, recalls
from fidal.rows import append_once
from fidal.storage import save_state
from fidal.types import OUTLIER

CLASSES = ("MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC")
SITES = ("north", "east", "south", "west")
TEST = np.array([40, 160, 40, 20, 60, 10, 10, 20])
POOL = {"north": 900, "east": 700, "south": 500, "west": 400}
SHARE = {"north": 0.25, "east": 0.35, "south": 0.3, "west": 0.4}
# Gain of recall over the rounds, and the share of a query that is OOD, relative to the pool's.
CHARACTER = {
    "fidal": (0.34, 0.2),
    "fidal-paper": (0.27, 0.15),
    "random": (0.24, 1.0),
    "entropy": (0.22, 1.8),
    "badge": (0.28, 1.4),
    "feal": (0.26, 1.5),
    "pal": (0.18, 1.1),
    "lfosa": (0.17, 0.6),
    "eoal": (0.25, 0.9),
    "openpath": (0.24, 0.8),
}
BUDGET = 50


def config_of(
    strategy: str | Mapping[str, JsonValue],
    seed: int,
    benchmark: Mapping[str, JsonValue] | None = None,
    rounds: int = 5,
    **fields: JsonValue,
) -> dict[str, Any]:
    """As `Experiment.model_dump_json` writes it, as far as the report looks."""
    return {
        "name": "made",
        "seed": seed,
        "rounds": rounds,
        "budget": BUDGET,
        "benchmark": dict(benchmark or {"name": "phantom", "size": 64}),
        "training": {"rounds": 10, "epochs": 1},
        "strategy": {"name": strategy} if isinstance(strategy, str) else dict(strategy),
        **fields,
    }


def make_run(
    root: Path,
    strategy: str | Mapping[str, JsonValue],
    seed: int = 0,
    *,
    upto: int | None = None,
    bonus: float = 0.0,
    classes: Sequence[str] = CLASSES,
    sites: Sequence[str] = SITES,
    benchmark: Mapping[str, JsonValue] | None = None,
    rounds: int = 5,
    **fields: JsonValue,
) -> Path:
    """A run's folder with rows of rounds 0 to `upto` (all of them by default)."""
    config = config_of(strategy, seed, benchmark, rounds, **fields)
    name = str(config["strategy"]["name"])
    text = json.dumps(config, sort_keys=True)
    folder = root / f"{config['name']}-{name}-s{seed}-{zlib.crc32(text.encode())}"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config))
    rows, timings = [], []
    for round in range((rounds if upto is None else upto) + 1):
        rows += _rows(config, name, seed, round, bonus, tuple(classes), tuple(sites))
        for phase, seconds in (("train", 2.0), ("query", 0.5), ("evaluate", 0.25)):
            at: dict[str, JsonValue] = {"phase": phase, "site": sites[0], "round": round}
            timings.append({**at, "seconds": seconds, "peak_bytes": 5_000_000})
    append_once(folder / "rounds.jsonl", rows, ("run", "round", "site"))
    append_once(folder / "timings.jsonl", timings, ("phase", "site", "round"))
    return folder


def edit(folder: Path, change: Any) -> None:
    """Rewrite the rows of a run: `change(row)` edits each in place."""
    file = folder / "rounds.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        change(row)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _rows(
    config: Mapping[str, Any],
    strategy: str,
    seed: int,
    round: int,
    bonus: float,
    classes: tuple[str, ...],
    sites: tuple[str, ...],
) -> list[dict[str, JsonValue]]:
    gain, taste = CHARACTER.get(strategy, (0.25, 1.0))
    head: dict[str, JsonValue] = {
        "run": f"made-{strategy}-s{seed}",
        "experiment": "made",
        "benchmark": config["benchmark"]["name"],
        "strategy": strategy,
        "seed": seed,
        "round": round,
        "classes": list(classes),
    }
    confusions, rows, total = [], [], np.zeros(5, int)
    for k, site in enumerate(sites):
        # The warm-up does not know the strategy.
        rng = np.random.default_rng([seed, round, k, len(strategy) if round else 0])
        base = 0.2 + (gain if round else 0) * (1 - np.exp(-round / 2)) + bonus * (round > 0)
        confusions.append(_confusion(TEST[: len(classes)] // (1 + k % 2), base, rng))
        asked = config["budget"]
        odds = [SHARE.get(site, 0.3) * (taste if r else 1) for r in range(round + 1)]
        each = [int(asked * share) + (seed * (r + 3)) % 4 for r, share in enumerate(odds)]
        outliers, now = sum(each), each[-1]
        counts = np.array(
            [POOL.get(site, 500) - round * asked, asked, now, asked * (round + 1), outliers]
        )
        total += counts
        rows.append(
            {
                **head,
                "site": site,
                "bma": balanced_accuracy(confusions[-1]),
                "accuracy": accuracy(confusions[-1]),
                "recall": [_null(x) for x in recalls(confusions[-1])],
                "confusion": confusions[-1],
                "calibration_error": 0.1 + 0.01 * k,
                "loss": 1.5,
                **_counts(counts),
                "pool_ood_share": SHARE.get(site, 0.3),
                "gate": _gate(rng) if strategy.startswith("fidal") and round else None,
            }
        )
    together = pooled(confusions)
    federation = {
        **head,
        "site": "*",
        "bma_mean": float(np.mean([balanced_accuracy(c) for c in confusions])),
        "bma_pooled": balanced_accuracy(together),
        "accuracy_mean": float(np.mean([accuracy(c) for c in confusions])),
        "accuracy_pooled": accuracy(together),
        "recall": [_null(x) for x in recalls(together)],
        "confusion": [list(row) for row in together],
        **_counts(total),
    }
    return [*rows, federation]


def _confusion(test: np.ndarray, base: float, rng: np.random.Generator) -> list[list[int]]:
    classes = len(test)
    counts = np.zeros((classes, classes), int)
    for true, images in enumerate(test.tolist()):
        hits = int(rng.binomial(images, np.clip(base * (0.7 + 0.08 * true), 0, 1)))
        counts[true, true] = hits
        counts[true, (true + 1) % classes] = images - hits
    return [[int(x) for x in row] for row in counts]


def _counts(counts: np.ndarray) -> dict[str, JsonValue]:
    candidates, asked, now, seen, outliers = (int(x) for x in counts)
    return {
        "candidates": candidates,
        "asked": asked,
        "answered_id": asked - now,
        "answered_ood": now,
        "filled": 0,
        "labelled": seen - outliers,
        "outliers": outliers,
        "purity": purity(seen - outliers, outliers),
    }


def _gate(rng: np.random.Generator) -> dict[str, JsonValue]:
    return {
        "rejected": 0.35,
        "cut": 0.4,
        "separation": 3.0,
        "ood_share": 0.3,
        "auroc": 0.95,
        "recall": 0.9,
        "id_loss": 0.05,
        "true_recall": 0.85 + 0.1 * float(rng.random()),
        "true_id_loss": 0.02 + 0.05 * float(rng.random()),
    }


def _null(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def make_images(root: Path, per_site: int = 60, size: int = 32) -> dict[str, JsonValue]:
    """A `folder` benchmark of coloured squares, a third of them (grey) outliers. Out: its config.

    The id of every image begins with its site.
    """
    rng = np.random.default_rng(0)
    (root / "images").mkdir(parents=True)
    lines = ["image,site,split,label,kind"]
    for site in SITES:
        for i in range(per_site):
            outlier = i % 3 == 2
            tone = rng.integers(90, 170) if outlier else rng.integers(0, 256, 3)
            noise = rng.integers(-25, 25, (size, size, 1))
            pixels = np.clip(np.zeros((size, size, 3)) + tone + noise, 0, 255).astype(np.uint8)
            file = f"images/{site}-{i:03d}.png"
            Image.fromarray(pixels).save(root / file)
            split = "train" if i < per_site * 3 // 4 else "test"
            if split == "test" and outlier:
                continue
            word = "ood" if outlier else CLASSES[i % 8]
            lines.append(f"{file},{site},{split},{word},{'grey' if outlier else 'id'}")
    (root / "manifest.csv").write_text("\n".join(lines) + "\n")
    return {
        "name": "folder",
        "manifest": str(root / "manifest.csv"),
        "classes": list(CLASSES),
        "size": size,
    }


def make_site_files(
    folder: Path, ids: Mapping[str, Sequence[str]], labels: Mapping[str, int], round: int = 5
) -> None:
    """What the sites of a run keep: the last query's scores of all candidates, and its answers."""
    import torch

    for site, candidates in ids.items():
        rng = np.random.default_rng(len(site))
        own = folder / "sites" / site
        own.mkdir(parents=True, exist_ok=True)
        truth = np.array([labels[sample] for sample in candidates])
        middle = np.where(truth == OUTLIER, 0.3, 0.7)
        coverage = np.clip(middle + rng.normal(0, 0.12, len(truth)), 0, 1)
        kept = coverage >= 0.4
        score = np.where(kept, coverage * rng.random(len(truth)), -np.inf)
        scores = {
            "coverage": coverage,
            "kept": kept,
            "score": score,
            "similarity_id": rng.random(len(truth)),
            "similarity_ood": rng.random(len(truth)),
        }
        asked = np.argsort(-score)[:10]
        row: dict[str, JsonValue] = {
            "round": round,
            "ids": [candidates[i] for i in asked],
            "answers": [int(truth[i]) for i in asked],
            "scores": {k: [float(v[i]) for i in asked] for k, v in scores.items()},
            "notes": [],
            "terms": {},
        }
        append_once(own / "queries.jsonl", [row], ("round",))
        tensors = {name: torch.from_numpy(np.asarray(values)) for name, values in scores.items()}
        meta = {"ids": "\n".join(candidates)}
        save_state(own / f"scores-{round}.safetensors", tensors, meta)
