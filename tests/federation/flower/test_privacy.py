"""Flower's differential privacy around the average: clipping, noise, and what was spent."""

import json
import math
from pathlib import Path

import pytest
import torch
from flwr.supercore.task_identity import TaskIdentity

from fidal.federation.averaging import federated_average
from fidal.federation.engine import FederationError
from fidal.federation.flower.privacy import PrivateAverage
from fidal.federation.messages import TensorSpec, TrainReply, Weights

N = 200_000
SPECS = (TensorSpec("w", (N,), "float32"), TensorSpec("bn.running_var", (1000,), "float32"))
SENT = Weights(SPECS, torch.ones(N + 1000))


@pytest.fixture(autouse=True)
def task() -> None:
    TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 1


def private(path: Path, noise: float = 1e-6, most: float | None = None) -> PrivateAverage:
    return PrivateAverage(noise, 1.0, 1e-5, most, sites=3, path=path / "privacy.json")


def reply(site: str, step: torch.Tensor, n: int = 10) -> TrainReply:
    return TrainReply(site, Weights(SPECS, SENT.flat + step), n, 0.1)


def direction(seed: int, length: float) -> torch.Tensor:
    x = torch.randn(N + 1000, generator=torch.Generator().manual_seed(seed))
    x[N:] = 0
    return x * (length / x.norm())


def test_short_updates_are_averaged_as_they_are_each_site_alike(tmp_path: Path) -> None:
    steps = [direction(seed, 0.5) for seed in (1, 2)]
    replies = [reply("a", steps[0], n=1), reply("b", steps[1], n=1000)]
    found = private(tmp_path)(replies, SENT)
    mean = SENT.flat + (steps[0] + steps[1]) / 2
    torch.testing.assert_close(found.flat, mean, rtol=0, atol=1e-5)
    assert found.specs == SPECS and found.flat.dtype == torch.float32


def test_long_updates_are_scaled_down_to_the_clip(tmp_path: Path) -> None:
    found = private(tmp_path)([reply("a", direction(1, 50.0))], SENT)
    update = found.flat - SENT.flat
    assert update.norm().item() == pytest.approx(1.0, rel=1e-3)
    cosine = torch.dot(update, direction(1, 1.0)).item()
    assert cosine == pytest.approx(1.0, rel=1e-3)


@pytest.mark.parametrize("sites", [1, 2])
def test_the_noise_is_the_multiplier_times_the_clip_over_the_sites(
    sites: int, tmp_path: Path
) -> None:
    zero = torch.zeros(N + 1000)
    zero[0] = 1e-3
    replies = [reply(name, zero) for name in "ab"[:sites]]
    found = private(tmp_path, noise=0.5)(replies, SENT)
    noise = (found.flat - SENT.flat)[:N]
    assert noise.std().item() == pytest.approx(0.5 / sites, rel=0.02)
    assert abs(noise.mean().item()) < 0.01


def test_two_releases_have_different_noise(tmp_path: Path) -> None:
    average = private(tmp_path, noise=0.5)
    one = average([reply("a", direction(1, 1))], SENT)
    two = average([reply("a", direction(1, 1))], SENT)
    assert not torch.equal(one.flat, two.flat)


def test_variances_stay_positive(tmp_path: Path) -> None:
    found = private(tmp_path, noise=5.0)([reply("a", direction(1, 1))], SENT)
    assert found.flat[:N].min() < 0 < found.flat[N:].min()


def epsilon(releases: int, noise: float, delta: float) -> float:
    """Renyi accounting of the Gaussian mechanism and its conversion, written out."""
    best = math.inf
    for a in [1 + x / 10 for x in range(1, 100)] + list(range(11, 500)):
        renyi = releases * a / (2 * noise**2)
        best = min(best, renyi + math.log1p(-1 / a) - math.log(delta * a) / (a - 1))
    return best


def test_epsilon_is_that_of_all_releases_so_far(tmp_path: Path) -> None:
    average = private(tmp_path, noise=2.0)
    assert average.spent()["releases"] == 0
    for n in (1, 2, 3):
        average([reply("a", direction(n, 1)), reply("b", direction(n, 2))], SENT)
        spent = average.spent()
        assert spent["epsilon"] == pytest.approx(epsilon(n, 2.0, 1e-5), rel=0.01)
        assert (spent["delta"], spent["releases"]) == (1e-5, n)


def test_what_was_spent_survives_a_restart(tmp_path: Path) -> None:
    first = private(tmp_path, noise=2.0)
    first([reply("a", direction(1, 1))], SENT)
    again = private(tmp_path, noise=2.0)
    assert again.spent() == first.spent()
    again([reply("a", direction(1, 1))], SENT)
    assert again.spent()["releases"] == 2
    assert json.loads((tmp_path / "privacy.json").read_text())["compositions"]


def test_the_budget_ends_the_run_before_it_is_exceeded(tmp_path: Path) -> None:
    average = private(tmp_path, noise=2.0, most=epsilon(2, 2.0, 1e-5) * 1.02)
    for _ in range(2):
        average([reply("a", direction(1, 1))], SENT)
    before = average.spent()
    with pytest.raises(FederationError, match=r"privacy\.most: .* 2 were made"):
        average([reply("a", direction(1, 1))], SENT)
    assert average.spent() == before


def test_sites_without_labels_add_nothing_and_nobody_costs_nothing(tmp_path: Path) -> None:
    average = private(tmp_path)
    nothing = [reply("a", torch.zeros(N + 1000), n=0)]
    assert average(nothing, SENT) is SENT
    assert average.spent()["releases"] == 0
    step = direction(1, 0.5)
    found = average([*nothing, reply("b", step)], SENT)
    torch.testing.assert_close(found.flat, SENT.flat + step, rtol=0, atol=1e-5)


def test_the_order_of_replies_does_not_matter_and_without_noise_it_is_fedavg(
    tmp_path: Path,
) -> None:
    replies = [reply(name, direction(seed, 0.3)) for seed, name in enumerate("abc")]
    ours = private(tmp_path)(replies[::-1], SENT)
    torch.testing.assert_close(ours.flat, federated_average(replies, SENT).flat, rtol=0, atol=1e-5)
