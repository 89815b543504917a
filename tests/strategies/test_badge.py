import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.strategies.badge import Badge, gradient_distances, residual


def gradients(logits: Tensor, features: Tensor) -> Tensor:
    """The gradient of cross-entropy with respect to the last layer's weights, by autograd."""
    rows = []
    for f, z in zip(features, logits, strict=True):
        weight = torch.zeros(len(z), len(f), dtype=f.dtype, requires_grad=True)
        out = z + weight @ f  # the last layer's answer is z, whatever its weights are
        loss = torch.nn.functional.cross_entropy(out[None], out.argmax()[None])
        rows.append(torch.autograd.grad(loss, weight)[0].flatten())
    return torch.stack(rows)


def made(n: int = 30) -> tuple[Tensor, Tensor]:
    pool = make_pool(n=n, dtype=torch.float64).pool
    assert pool.global_features is not None
    return pool.global_logits / 5, pool.global_features


def test_residual_by_hand() -> None:
    logits = torch.tensor([[0.0, 0.0], [0.0, torch.log(torch.tensor(3.0))]])
    expected = torch.tensor([[0.5, -0.5], [-0.25, 0.25]])
    torch.testing.assert_close(residual(logits), expected)


def test_factorised_distance_equals_the_materialised_one() -> None:
    logits, features = made()
    g = gradients(logits, features)
    rows = torch.tensor([3, 0, 17])
    got = gradient_distances(residual(logits), features)(rows)
    torch.testing.assert_close(got, (g[rows, None] - g).square().sum(2), atol=1e-9, rtol=1e-9)


def test_first_is_the_largest_gradient_and_the_rest_are_drawn() -> None:
    pool = make_pool().pool
    assert pool.global_features is not None
    norms = gradients(pool.global_logits, pool.global_features).norm(dim=1)
    a, b = (Badge().select(pool, 20, np.random.default_rng(seed)) for seed in (0, 1))
    assert a.ids[0] == b.ids[0] == pool.ids[int(norms.argmax())]
    assert set(a.ids) != set(b.ids)
    torch.testing.assert_close(a.scores["gradient_norm"], norms, atol=1e-4, rtol=1e-4)


def test_a_sure_model_is_no_reason_to_fail() -> None:
    pool = make_pool().pool
    sure = torch.zeros_like(pool.global_logits)
    sure[:, 0] = 1e4  # every gradient is exactly zero
    object.__setattr__(pool, "global_logits", sure)
    assert len(set(Badge().select(pool, 50, np.random.default_rng(0)).ids)) == 50


def test_it_names_the_features_that_it_lacks() -> None:
    pool = make_pool().pool
    object.__setattr__(pool, "global_features", None)
    with pytest.raises(ValueError, match=r"'badge' needs Pool\.global_features"):
        Badge().select(pool, 5, np.random.default_rng(0))
