import pytest
import torch

from fidal.neighbours.greedy import AHEAD, one_by_one
from fidal.neighbours.similarity import unit


def naive(score, slope, similarity, features, budget):  # type: ignore[no-untyped-def]
    """The definition, one image at a time."""
    chosen: list[int] = []
    for _ in range(budget):
        value = []
        for i in range(len(score)):
            S = max([float(similarity[i]), *(float(features[i] @ features[j]) for j in chosen)])
            value.append(float(score[i]) - float(slope[i]) * (S - float(similarity[i])))
        left = [i for i in range(len(score)) if i not in chosen and value[i] > -float("inf")]
        if not left:
            break
        chosen.append(max(left, key=lambda i: (value[i], -i)))
    return chosen


@pytest.mark.parametrize("budget", [1, 20, 60])
def test_it_is_the_definition_s_choice(budget: int) -> None:
    generator = torch.Generator().manual_seed(budget)
    features = unit(torch.randn(60, 5, generator=generator, dtype=torch.float64))
    score, slope, similarity = torch.rand(3, 60, generator=generator, dtype=torch.float64)
    score[::7] = -torch.inf
    found = one_by_one(score, slope, similarity, features, budget).tolist()
    assert found == naive(score, slope, similarity, features, budget)
    assert budget > AHEAD or len(found) == budget


def test_of_two_alike_the_second_waits() -> None:
    features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    score, slope = torch.tensor([1.0, 0.9, 0.5]), torch.ones(3)
    assert one_by_one(score, slope, torch.zeros(3), features, 3).tolist() == [0, 2, 1]
    assert one_by_one(score, 0 * slope, torch.zeros(3), features, 3).tolist() == [0, 1, 2]


def test_the_inputs_stay_as_they_are() -> None:
    score, similarity = torch.rand(2, 8)
    before = score.clone(), similarity.clone()
    one_by_one(score, torch.ones(8), similarity, unit(torch.randn(8, 3)), 5)
    assert torch.equal(score, before[0]) and torch.equal(similarity, before[1])
