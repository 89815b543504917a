import math

import numpy as np
import pytest
import torch

from fidal.gates.thresholds.gmm import Gmm


def mixture(seed: int, *parts: tuple[int, float, float]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(m, s, n) for n, m, s in parts]).clip(0, 1)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_the_cut_is_where_two_known_gaussians_are_equally_likely(share: float) -> None:
    # Equal spreads: x = middle + s^2 / (m2 - m1) log(w1 / w2).
    low = round(20_000 * share)
    scores = mixture(0, (low, 0.3, 0.08), (20_000 - low, 0.7, 0.08))
    want = 0.5 + 0.08**2 / 0.4 * math.log(share / (1 - share))
    cut = Gmm().cut(torch.from_numpy(scores), None)
    assert cut == pytest.approx(want, abs=0.01)


def test_what_lies_above_a_narrow_upper_component_is_kept() -> None:
    # The lower component is so wide that it wins again far above the upper one.
    scores = mixture(1, (3000, 0.35, 0.12), (7000, 0.7, 0.02))
    cut = Gmm().cut(torch.from_numpy(np.append(scores, [0.98, 1.0])), None)
    assert cut is not None and 0.55 < cut < 0.7


def test_constant_scores_are_not_cut() -> None:
    assert Gmm().cut(torch.full((20,), 0.5), None) is None


def test_two_values_part_between_them() -> None:
    cut = Gmm().cut(torch.tensor([0.0] * 3 + [1.0] * 9), None)
    assert cut is not None and 0 < cut <= 1
