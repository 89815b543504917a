"""FIDAL against the paper's formulas, written out as loops over single images in float64."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import digamma, gammaln

from fidal.checks.pools import make_pool
from fidal.gates import Gate
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.thresholds.otsu import Otsu
from fidal.gates.thresholds.percentile import Percentile
from fidal.strategies.fidal import EPSILON, Fidal, fuse, support_weight
from fidal.types import Pool, Query
from fidal.uncertainty import calibrated, rarity

PRINTED_GATE = Gate(density=DiagonalGaussian(), threshold=Otsu())


def ordered_pool(n: int = 90, seed: int = 0) -> Pool:
    """Ids in the order of the rows, so that rows can be compared with ids."""
    pool = make_pool(n=n, dtype=torch.float64, seed=seed).pool
    return replace(pool, ids=tuple(f"{i:04d}" for i in range(n)))


def query(pool: Pool, budget: int = 20, **choices: object) -> Query:
    return Fidal.model_validate(choices).select(pool, budget, np.random.default_rng(0))


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def similarities(pool: Pool) -> tuple[list[float], list[float], list[int]]:
    """Eq. 4, 5 and 6, one pair at a time."""
    f, known = pool.features.numpy(), pool.labelled.features.numpy()
    foreign = pool.outliers.features.numpy()
    s_id = [max(cosine(x, y) for y in known) for x in f]
    s_ood = [max(cosine(x, y) for y in foreign) for x in f]
    everyone = [*f, *known]
    count = [sum(cosine(x, y) > 0.8 * s for y in everyone) for x, s in zip(f, s_id, strict=True)]
    return s_id, s_ood, count


def uncertainty(pool: Pool) -> list[float]:
    """Eq. 1-3 with the true Dirichlet entropy, min-max over the pool."""

    def aleatoric(alpha: np.ndarray) -> float:
        S = alpha.sum()
        return sum(a / S * (digamma(S + 1) - digamma(a + 1)) for a in alpha)

    def dirichlet_entropy(alpha: np.ndarray) -> float:
        S = alpha.sum()
        by_class = sum(gammaln(a) - (a - 1) * (digamma(a) - digamma(S)) for a in alpha)
        return float(by_class - gammaln(S))

    ours = [np.maximum(row, 0) + 1 for row in pool.global_logits.numpy()]
    theirs = [np.maximum(row, 0) + 1 for row in pool.local_logits.numpy()]
    doubt = np.array([dirichlet_entropy(alpha) for alpha in ours])
    doubt = (doubt - doubt.min()) / (doubt.max() - doubt.min())
    pairs = zip(ours, theirs, doubt, strict=True)
    return [(aleatoric(a) + aleatoric(b)) * d for a, b, d in pairs]


@pytest.mark.parametrize("support", ["standardized", "scaled", "literal", "off"])
def test_the_ranking_score_is_eq_8(support: str) -> None:
    pool = ordered_pool()
    s_id, s_ood, count = similarities(pool)
    n, m = len(pool.ids), len(pool.labelled.labels)
    mean, std = float(np.mean(count)), float(np.std(count))
    exponent = {
        "standardized": [-(c - mean) / std for c in count],
        "scaled": [-c / (n + m) for c in count],
        "literal": [-float(c) for c in count],
        "off": [0.0] * n,
    }[support]
    total = sum(math.exp(e) for e in exponent)
    size = 1 if support == "literal" else n
    weight = [size * math.exp(e) / total for e in exponent]
    want = [
        u + 3.0 * w * (1 - a) - 0.7 * b
        for u, w, a, b in zip(uncertainty(pool), weight, s_id, s_ood, strict=True)
    ]
    choices = {"support": support, "lambda_div": 3.0, "lambda_ood": 0.7, "lambda_rare": 0.0}
    found = query(pool, gate=None, **choices)
    assert found.scores["ranking"].tolist() == pytest.approx(want)
    assert found.scores["similarity_id"].tolist() == pytest.approx(s_id)
    assert found.scores["similarity_ood"].tolist() == pytest.approx(s_ood)
    if support != "off":
        assert found.scores["support_count"].tolist() == count
    best = sorted(range(n), key=lambda i: -want[i])[:20]
    assert [int(i) for i in found.ids] == best


def test_coverage_is_eq_10_and_the_survivors_score_eq_12() -> None:
    pool = ordered_pool()
    assert pool.coverage is not None and pool.labelled.coverage is not None
    g = [x / np.linalg.norm(x) for x in pool.coverage.numpy()]
    known = np.array([x / np.linalg.norm(x) for x in pool.labelled.coverage.numpy()])
    gate = Gate(density=DiagonalGaussian(variance_floor=0.0), threshold=Otsu(), tail=None)
    mu, variance = known.mean(0), known.var(0)
    log_p = [
        sum(
            -0.5 * (math.log(2 * math.pi * v) + (x - mean) ** 2 / v)
            for x, mean, v in zip(z, mu, variance, strict=True)
        )
        for z in g
    ]
    low, high = min(log_p), max(log_p)
    G = [(p - low) / (high - low) for p in log_p]
    found = query(pool, gate=gate)
    assert found.scores["coverage"].tolist() == pytest.approx(G)
    diagnosis = found.diagnosis.gate
    assert diagnosis is not None and 0 < diagnosis.rejected < 1
    kept = [x >= diagnosis.cut for x in G]
    assert found.scores["kept"].tolist() == kept
    R = found.scores["ranking"].tolist()
    least = min(r for r, k in zip(R, kept, strict=True) if k)
    want = [(r - least + EPSILON) * x for r, x, k in zip(R, G, kept, strict=True) if k]
    assert found.scores["score"][torch.tensor(kept)].tolist() == pytest.approx(want)
    assert all(math.isinf(s) for s in found.scores["score"][~torch.tensor(kept)].tolist())


def test_without_coverage_weight_survivors_keep_the_order_of_eq_8() -> None:
    pool = ordered_pool()
    found = query(pool, budget=15, gate=PRINTED_GATE, coverage_weight=False)
    kept = found.scores["kept"]
    ranking = found.scores["ranking"].masked_fill(~kept, -torch.inf)
    assert [int(i) for i in found.ids] == ranking.argsort(descending=True)[:15].tolist()


def test_too_few_survivors_are_filled_up_by_descending_coverage() -> None:
    pool = ordered_pool()
    gate = Gate(density=DiagonalGaussian(), threshold=Percentile(share=0.9))
    found = query(pool, budget=40, gate=gate)
    kept, G = found.scores["kept"], found.scores["coverage"]
    survivors = int(kept.sum())
    assert 0 < survivors < 40
    chosen = [int(i) for i in found.ids]
    assert all(bool(kept[i]) for i in chosen[:survivors])
    refused = sorted((i for i in range(90) if not kept[i]), key=lambda i: -float(G[i]))
    assert chosen[survivors:] == refused[: 40 - survivors]
    assert found.diagnosis.filled == 40 - survivors


def test_each_weight_at_zero_leaves_its_term_out() -> None:
    pool = ordered_pool()
    found = query(pool, gate=None, lambda_div=0.0, lambda_ood=0.0, lambda_rare=0.0)
    assert torch.equal(found.scores["ranking"], found.scores["uncertainty"])


def test_no_labelled_outlier_means_no_penalty() -> None:
    pool = ordered_pool()
    none = replace(
        pool.outliers, features=pool.outliers.features[:0], coverage=torch.zeros(0, 24).double()
    )
    found = query(replace(pool, outliers=none), gate=None)
    assert not found.scores["similarity_ood"].any()


def test_no_labelled_id_image_means_a_random_query_and_says_so() -> None:
    pool = ordered_pool()
    known = pool.labelled
    assert known.coverage is not None and known.global_features is not None
    nobody = replace(
        known,
        features=known.features[:0],
        labels=known.labels[:0],
        coverage=known.coverage[:0],
        global_features=known.global_features[:0],
    )
    found = query(replace(pool, labelled=nobody))
    assert len(set(found.ids)) == 20
    assert found.diagnosis.notes == ("random: no labelled ID image yet",)


def test_the_standardised_weight_keeps_mean_one_and_lifts_rare_regions() -> None:
    count = torch.tensor([1.0, 10.0, 100.0, 300.0], dtype=torch.float64)
    for support in ("standardized", "scaled"):
        weight = support_weight(count, support, population=400)  # type: ignore[arg-type]
        assert float(weight.mean()) == pytest.approx(1)
        assert weight.tolist() == sorted(weight.tolist(), reverse=True)
    literal = support_weight(count, "literal", population=400)
    assert float(literal[0]) > 0.999  # what is printed puts all mass on the rarest


def test_equal_counts_weigh_equally() -> None:
    weight = support_weight(torch.full((5,), 7.0), "standardized", population=12)
    assert weight.tolist() == pytest.approx([1.0] * 5)


@pytest.mark.parametrize("activation", ["relu", "softplus", "exp"])
@pytest.mark.parametrize("epistemic", ["entropy", "literal"])
def test_evidence_and_epistemic_term_are_as_chosen(activation: str, epistemic: str) -> None:
    pool = ordered_pool()
    found = query(pool, gate=None, activation=activation, epistemic=epistemic)
    want = calibrated(pool.global_logits, pool.local_logits, activation, epistemic)  # type: ignore[arg-type]
    assert torch.equal(found.scores["uncertainty"], want)


def test_rarity_is_of_the_classes_that_lie_near_and_added_by_its_weight() -> None:
    pool = ordered_pool()
    known, labels = pool.labelled.features.numpy(), pool.labelled.labels.numpy()
    classes = range(pool.global_logits.shape[1])
    near = [
        [max((cosine(x, y) for y in known[labels == c]), default=-1.0) for c in classes]
        for x in pool.features.numpy()
    ]
    surprise = rarity(torch.tensor(near, dtype=torch.float64), pool.labelled.labels)
    without, with_it = (query(pool, lambda_rare=x).scores for x in (0.0, 2.0))
    assert with_it["rarity"].tolist() == pytest.approx(surprise.tolist())
    added = with_it["ranking"] - without["ranking"]
    assert added.tolist() == pytest.approx((2 * surprise).tolist())


def test_the_gate_is_told_which_labelled_images_were_drawn_at_random() -> None:
    pool = ordered_pool()
    warned = []
    for n in (9, 40):
        drawn = torch.arange(40) < n
        found = query(replace(pool, labelled=replace(pool.labelled, random_draw=drawn)))
        assert found.diagnosis.gate is not None
        warned.append(any("randomly drawn" in flag for flag in found.diagnosis.gate.flags))
    assert warned == [True, False]


def test_fusing_by_hand() -> None:
    # The least is taken among survivors: the refused -7 does not lift them.
    ranking, G = torch.tensor([2.0, -7.0, 0.5, 1.0]), torch.tensor([0.5, 0.1, 1.0, 0.8])
    score = fuse(ranking.double(), torch.tensor([True, False, True, True]), G.double())
    assert score.tolist() == pytest.approx([0.75, -math.inf, EPSILON, 0.4], abs=1e-7)
    assert 0 < float(score[2]) < 1e-7  # the weakest survivor stays above zero


def test_fusing_nobody_gives_nobody_a_score() -> None:
    score = fuse(torch.rand(4), torch.zeros(4, dtype=torch.bool), torch.ones(4))
    assert bool(torch.isneginf(score).all())


def test_a_greedy_batch_does_not_take_two_of_a_kind() -> None:
    """The second of two identical images gains nothing once the first counts as labelled."""
    pool = ordered_pool()
    features = pool.features.clone()
    first = int(query(pool, 1, gate=None, lambda_div=50.0, support="off").ids[0])
    twin = (first + 1) % 90
    features[twin] = features[first]
    logits = pool.global_logits.clone(), pool.local_logits.clone()
    for x in logits:
        x[twin] = x[first]
    twins = replace(pool, features=features, global_logits=logits[0], local_logits=logits[1])
    choices = {"gate": None, "lambda_div": 50.0, "support": "off"}
    top = query(twins, 10, batch="top", **choices).ids
    greedy = query(twins, 10, batch="greedy", **choices).ids
    pair = {f"{first:04d}", f"{twin:04d}"}
    assert pair <= set(top)
    assert len(pair & set(greedy)) == 1


def test_a_sample_of_neighbours_counts_about_the_same() -> None:
    pool = ordered_pool(400)
    exact = query(pool, gate=None).scores["support_count"].double()
    sampled = query(pool, gate=None, neighbour_sample=200).scores["support_count"].double()
    assert not torch.equal(exact, sampled)
    assert float(torch.corrcoef(torch.stack([exact, sampled]))[0, 1]) > 0.95


def test_only_a_gate_needs_coverage() -> None:
    pool = replace(ordered_pool(), coverage=None)
    with pytest.raises(ValueError, match="needs Pool\\.coverage"):
        query(pool)
    assert len(query(pool, gate=None).ids) == 20
