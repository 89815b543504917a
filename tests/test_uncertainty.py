import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import digamma, gammaln
from torch import Tensor

from fidal.uncertainty import (
    TEMPERATURE,
    Activation,
    aleatoric,
    calibrated,
    dirichlet,
    dirichlet_entropy,
    entropy,
    epistemic_literal,
    margin,
    min_max,
    rarity,
)

ACTIVATIONS: tuple[Activation, ...] = ("relu", "softplus", "exp")


def some_alpha(n: int = 30, classes: int = 5, scale: float = 10.0, seed: int = 0) -> Tensor:
    rng = np.random.default_rng(seed)
    return torch.from_numpy(1 + scale * rng.random((n, classes)) ** 2)


def naive_aleatoric(alpha: list[float]) -> float:
    S = sum(alpha)
    return sum(a / S * (digamma(S + 1) - digamma(a + 1)) for a in alpha)


def naive_entropy(alpha: list[float]) -> float:
    S, C = sum(alpha), len(alpha)
    log_beta = sum(gammaln(a) for a in alpha) - gammaln(S)
    return log_beta + (S - C) * digamma(S) - sum((a - 1) * digamma(a) for a in alpha)


def naive_printed(alpha: list[float]) -> float:
    S = sum(alpha)
    return sum(gammaln(a) - gammaln(S) - (a - 1) * (digamma(a) - digamma(S)) for a in alpha)


def naive_softmax(logits: list[float]) -> list[float]:
    top = max(logits)
    e = [math.exp(x - top) for x in logits]
    return [x / sum(e) for x in e]


@pytest.mark.parametrize(("classes", "value"), [(2, 0.5), (4, 1.0833), (8, 1.7179)])
def test_aleatoric_without_evidence(classes: int, value: float) -> None:
    # alpha = 1: psi(C+1) - psi(2) = 1/2 + 1/3 + ... + 1/C.
    assert aleatoric(torch.ones(1, classes)).item() == pytest.approx(value, abs=5e-5)


def test_dirichlet_entropy_without_evidence() -> None:
    # Dir(1, ..., 1) is uniform on the simplex, whose volume is 1/Gamma(8): -ln 7! = -8.525.
    assert dirichlet_entropy(torch.ones(1, 8)).item() == pytest.approx(-8.525, abs=5e-4)
    assert dirichlet_entropy(torch.ones(1, 8)).item() == pytest.approx(-math.log(5040), rel=1e-6)


def test_printed_equation_2_without_evidence() -> None:
    # The factor C on log Gamma(S): 8 * -8.525 = -68.2.
    assert epistemic_literal(torch.ones(1, 8)).item() == pytest.approx(-8 * math.log(5040))


def test_aleatoric_limits() -> None:
    flat = aleatoric(torch.full((1, 8), 1e9, dtype=torch.float64)).item()
    sure = aleatoric(torch.tensor([[1e9, 1.0, 1.0]], dtype=torch.float64)).item()
    assert flat == pytest.approx(math.log(8))
    assert sure == pytest.approx(0, abs=1e-6)


def test_equations_1_and_2_against_loops() -> None:
    alpha = some_alpha()
    for value, naive in (
        (aleatoric(alpha), naive_aleatoric),
        (dirichlet_entropy(alpha), naive_entropy),
        (epistemic_literal(alpha), naive_printed),
    ):
        torch.testing.assert_close(
            value, torch.tensor([naive(row) for row in alpha.tolist()], dtype=torch.float64)
        )


def test_dirichlet_entropy_is_that_of_torch() -> None:
    alpha = some_alpha(scale=100)
    torch.testing.assert_close(
        dirichlet_entropy(alpha), torch.distributions.Dirichlet(alpha).entropy()
    )


@pytest.mark.parametrize("function", [aleatoric, dirichlet_entropy, epistemic_literal])
def test_float32_keeps_its_digits_at_large_evidence(function) -> None:  # type: ignore[no-untyped-def]
    alpha = some_alpha(scale=1e4).float()
    assert function(alpha).dtype == torch.float32
    torch.testing.assert_close(
        function(alpha).double(), function(alpha.double()), rtol=1e-6, atol=1e-6
    )


def test_activations() -> None:
    logits = torch.tensor([[-2.0, 0.0, 3.0]], dtype=torch.float64)
    relu, softplus, exp = (dirichlet(logits, a).tolist()[0] for a in ACTIVATIONS)
    assert relu == [1, 1, 4]
    assert softplus == pytest.approx([1 + math.log1p(math.exp(x)) for x in (-2, 0, 3)])
    assert exp == pytest.approx([1 + math.exp(x) for x in (-2, 0, 3)])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_huge_logits_stay_finite(activation: Activation) -> None:
    logits = torch.tensor([[1e4, -1e4, 0.0], [-1e4, -1e4, -1e4]])
    assert torch.isfinite(calibrated(logits, logits, activation, "entropy")).all()
    assert torch.isfinite(calibrated(logits, logits, activation, "literal")).all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_equation_3_against_loops(activation: Activation) -> None:
    rng = np.random.default_rng(1)
    ours, theirs = (torch.from_numpy(rng.normal(size=(25, 4)) * 3) for _ in range(2))
    a, b = (dirichlet(x, activation).tolist() for x in (ours, theirs))
    both = [naive_aleatoric(x) + naive_aleatoric(y) for x, y in zip(a, b, strict=True)]
    epistemic = [naive_entropy(x) for x in a]
    low, high = min(epistemic), max(epistemic)
    scaled = [u * (e - low) / (high - low) for u, e in zip(both, epistemic, strict=True)]
    printed = [u * naive_printed(x) for u, x in zip(both, a, strict=True)]
    for choice, expected in (("entropy", scaled), ("literal", printed)):
        value = calibrated(ours, theirs, activation, choice)  # type: ignore[arg-type]
        torch.testing.assert_close(value, torch.tensor(expected, dtype=torch.float64))


def test_printed_equation_3_ranks_the_more_ambiguous_sample_lower() -> None:
    # The reason why "entropy" is the default. The first two samples have the same global logits;
    # to the local model the first is ambiguous and the second is clear.
    ours = torch.tensor([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0], [9.0, 0.0, 0.0]])
    theirs = torch.tensor([[5.0, 5.0, 5.0], [50.0, 0.0, 0.0], [9.0, 0.0, 0.0]])
    ambiguous, clear, _ = calibrated(ours, theirs, "relu", "entropy")
    assert ambiguous > clear > 0
    ambiguous, clear, _ = calibrated(ours, theirs, "relu", "literal")
    assert ambiguous < clear < 0


def test_min_max_by_hand() -> None:
    torch.testing.assert_close(
        min_max(torch.tensor([2.0, -2.0, 0.0, 1.0])), torch.tensor([1.0, 0.0, 0.5, 0.75])
    )


@pytest.mark.parametrize("value", [0.0, -8.525, 1e6])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_min_max_of_a_constant_is_one_even_with_rounding(value: float, dtype: torch.dtype) -> None:
    x = torch.full((5,), value, dtype=dtype)
    x[2] *= 1 + 2 * torch.finfo(dtype).eps
    assert min_max(x).tolist() == [1.0] * 5
    assert min_max(x[:1]).tolist() == [1.0]


def test_identical_candidates_are_equally_uncertain() -> None:
    logits = torch.tensor([[7.3, 1.1, -0.4, 2.2]]).expand(37, 4)
    U = calibrated(logits, logits, "softplus", "entropy")
    torch.testing.assert_close(U, 2 * aleatoric(dirichlet(logits, "softplus")))


def test_entropy_and_margin_against_loops() -> None:
    logits = torch.from_numpy(np.random.default_rng(2).normal(size=(20, 6)) * 4)
    for row, h, m in zip(
        logits.tolist(), entropy(logits).tolist(), margin(logits).tolist(), strict=True
    ):
        p = sorted(naive_softmax(row), reverse=True)
        assert h == pytest.approx(-sum(x * math.log(x) for x in p))
        assert m == pytest.approx(1 - (p[0] - p[1]))


def test_margin_by_hand() -> None:
    # Softmax of the logarithms of (0.6, 0.3, 0.1) is itself: 1 - (0.6 - 0.3) = 0.7.
    assert margin(torch.tensor([[0.1, 0.6, 0.3]]).log()).item() == pytest.approx(0.7)


def test_one_class_is_never_in_doubt() -> None:
    logits = torch.tensor([[3.0], [-5.0]])
    assert entropy(logits).tolist() == [0, 0]
    assert margin(logits).tolist() == [0, 0]
    assert aleatoric(dirichlet(logits, "relu")).tolist() == pytest.approx([0, 0])


def test_rarity_by_hand() -> None:
    # Two images of class 0, one of class 1, none of class 2: pi = 3/6, 2/6, 1/6.
    labels = torch.tensor([0, 1, 0])
    sure = torch.eye(3, dtype=torch.float64) * 2 - 1
    assert rarity(sure, labels).tolist() == pytest.approx([math.log(2), math.log(3), math.log(6)])
    nearer = TEMPERATURE * math.log(2)  # twice as likely
    torn = torch.tensor([[0.4, 0.4, 0.4 + nearer]], dtype=torch.float64)  # p = 1/4, 1/4, 1/2
    want = (math.log(2) + math.log(3)) / 4 + math.log(6) / 2
    assert rarity(torn, labels).item() == pytest.approx(want)
    assert rarity(torn, labels[:0]).item() == pytest.approx(math.log(3))  # all are equally rare


@given(arrays(np.float64, (7, 3), elements=st.floats(-50, 50)))
def test_ranges(values: np.ndarray) -> None:
    logits = torch.from_numpy(values)
    for activation in ACTIVATIONS:
        alpha = dirichlet(logits, activation)
        assert (alpha >= 1).all()
        assert (aleatoric(alpha) >= 0).all() and (aleatoric(alpha) <= math.log(3)).all()
        assert (dirichlet_entropy(alpha) <= -math.log(2) + 1e-9).all()
        assert (epistemic_literal(alpha) <= dirichlet_entropy(alpha) + 1e-9).all()
        value = calibrated(logits, logits, activation, "entropy")
        assert (value >= 0).all() and (value <= 2 * math.log(3)).all()
