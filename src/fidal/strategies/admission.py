"""What a pool must be before a strategy looks at it. Errors name the field, the site, the count."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import torch
from torch import Tensor

from fidal.types import Labelled, Outliers, Pool, Prompts

Named = tuple[str, Tensor]

SOURCE: Final[Mapping[str, str]] = {
    "coverage": "give the experiment an encoder",
    "prompts": "give the site prompts and an encoder of images and text",
    "global_features": "run the global model's penultimate layer over the candidates",
}
"""Where the optional fields of a pool come from."""


def admit(
    pool: Pool,
    budget: int,
    strategy: str,
    needs: tuple[str, ...],
    outputs: tuple[str, ...],
) -> None:
    """Raise a ValueError unless the pool is whole, finite and has all that the strategy needs."""
    if budget < 0:
        raise ValueError(f"site '{pool.site}': budget is {budget}; it must be 0 or more")
    _check_present(pool, strategy, needs, outputs)
    _check_ids(pool)
    _check_rows(pool)
    _check_widths(pool)
    _check_labels(pool)
    _check_finite(pool)


def sorted_by_id(pool: Pool) -> tuple[np.ndarray, Pool]:
    """The order that sorts the ids, and the pool in it (itself if it is sorted already)."""
    ids = pool.ids
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    if bool((order == np.arange(len(ids))).all()):
        return order, pool
    return order, reordered(pool, torch.from_numpy(order))


def reordered(pool: Pool, rows: Tensor) -> Pool:
    """The candidates at `rows`, int64 on the CPU, in that order."""

    def take(x: Tensor) -> Tensor:
        return x[rows.to(x.device)]

    return replace(
        pool,
        ids=tuple(pool.ids[i] for i in rows.tolist()),
        global_logits=take(pool.global_logits),
        local_logits=take(pool.local_logits),
        features=take(pool.features),
        global_features=None if pool.global_features is None else take(pool.global_features),
        coverage=None if pool.coverage is None else take(pool.coverage),
        prompts=None
        if pool.prompts is None
        else Prompts(take(pool.prompts.logits), pool.prompts.in_distribution),
        outputs={name: take(x) for name, x in pool.outputs.items()},
    )


def _check_present(
    pool: Pool, strategy: str, needs: tuple[str, ...], outputs: tuple[str, ...]
) -> None:
    for name in needs:
        if getattr(pool, name) is None:
            raise ValueError(
                f"site '{pool.site}': strategy '{strategy}' needs Pool.{name} of the "
                f"{len(pool.ids)} candidates, which is absent; {SOURCE[name]}"
            )
    for name in outputs:
        if name not in pool.outputs:
            raise ValueError(
                f"site '{pool.site}': strategy '{strategy}' needs Pool.outputs['{name}'] of the "
                f"{len(pool.ids)} candidates, which is absent; train the network with that "
                "strategy's objective"
            )


def _check_ids(pool: Pool) -> None:
    duplicates = len(pool.ids) - len(set(pool.ids))
    if duplicates:
        raise ValueError(f"site '{pool.site}': ids holds {duplicates} duplicates; ids are unique")


def _candidate_fields(pool: Pool) -> Iterator[Named]:
    yield "global_logits", pool.global_logits
    yield "local_logits", pool.local_logits
    yield "features", pool.features
    if pool.global_features is not None:
        yield "global_features", pool.global_features
    if pool.coverage is not None:
        yield "coverage", pool.coverage
    if pool.prompts is not None:
        yield "prompts.logits", pool.prompts.logits
    for name, x in pool.outputs.items():
        yield f"outputs['{name}']", x


def _set_fields(name: str, known: Labelled | Outliers) -> Iterator[Named]:
    yield f"{name}.features", known.features
    if known.coverage is not None:
        yield f"{name}.coverage", known.coverage
    if isinstance(known, Labelled):
        if known.global_features is not None:
            yield f"{name}.global_features", known.global_features
        if known.random_draw is not None:
            yield f"{name}.random_draw", known.random_draw


def _check_rows(pool: Pool) -> None:
    sets = [
        (len(pool.ids), "candidates", _candidate_fields(pool)),
        (len(pool.labelled.labels), "labelled images", _set_fields("labelled", pool.labelled)),
        (len(pool.outliers.features), "outliers", _set_fields("outliers", pool.outliers)),
    ]
    for n, what, fields in sets:
        for name, x in fields:
            if len(x) != n:
                raise ValueError(f"site '{pool.site}': {name} has {len(x)} rows for {n} {what}")


def _check_widths(pool: Pool) -> None:
    def agree(name: str, x: Tensor, reference: str, width: int) -> None:
        if x.ndim != 2 or x.shape[1] != width:
            raise ValueError(
                f"site '{pool.site}': {name} has shape {tuple(x.shape)}; "
                f"its width must be that of {reference}, {width}"
            )

    classes, width = pool.global_logits.shape[-1], pool.features.shape[-1]
    agree("global_logits", pool.global_logits, "itself", classes)
    agree("local_logits", pool.local_logits, "global_logits", classes)
    agree("features", pool.features, "itself", width)
    for name, known in (("labelled", pool.labelled), ("outliers", pool.outliers)):
        agree(f"{name}.features", known.features, "features", width)
        if pool.coverage is not None:
            if known.coverage is None:
                raise ValueError(f"site '{pool.site}': {name}.coverage is absent, coverage is not")
            agree(f"{name}.coverage", known.coverage, "coverage", pool.coverage.shape[-1])
    if pool.global_features is not None and pool.labelled.global_features is not None:
        own, width = pool.labelled.global_features, pool.global_features.shape[-1]
        agree("labelled.global_features", own, "global_features", width)
    if pool.prompts is not None:
        agree("prompts.logits", pool.prompts.logits, "prompts", len(pool.prompts.in_distribution))


def _check_labels(pool: Pool) -> None:
    classes, labels = pool.global_logits.shape[-1], pool.labelled.labels
    if labels.ndim != 1 or labels.dtype != torch.int64:
        raise ValueError(
            f"site '{pool.site}': labelled.labels is {labels.dtype} of shape "
            f"{tuple(labels.shape)}; it must be one int64 for each of {len(labels)} images"
        )
    wrong = int(((labels < 0) | (labels >= classes)).sum())
    if wrong:
        raise ValueError(
            f"site '{pool.site}': labelled.labels has {wrong} of {len(labels)} values outside "
            f"0..{classes - 1}"
        )


def _check_finite(pool: Pool) -> None:
    fields = [
        *_candidate_fields(pool),
        *_set_fields("labelled", pool.labelled),
        *_set_fields("outliers", pool.outliers),
    ]
    for name, x in fields:
        # A sum is finite only if every term is: one pass and no mask for the usual, clean case.
        if not bool(torch.isfinite(x.sum())):
            wrong = int((~torch.isfinite(x.reshape(len(x), -1))).any(1).sum())
            if wrong:
                raise ValueError(
                    f"site '{pool.site}': {name} has NaN or infinite values in {wrong} rows"
                )
