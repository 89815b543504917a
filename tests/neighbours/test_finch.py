import math
from itertools import combinations

import pytest
import torch
from torch import Tensor

from fidal.neighbours import finch
from fidal.neighbours.finch import cluster_means, clusters, first_neighbours, partitions


def points(n: int, width: int = 6, seed: int = 0) -> Tensor:
    return torch.randn(n, width, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def on_circle(*degrees: float) -> Tensor:
    return torch.tensor([[math.cos(math.radians(d)), math.sin(math.radians(d))] for d in degrees])


def groups(labels: Tensor) -> set[frozenset[int]]:
    found: dict[int, set[int]] = {}
    for i, label in enumerate(labels.tolist()):
        found.setdefault(label, set()).add(i)
    return {frozenset(group) for group in found.values()}


def cosine(a: Tensor, b: Tensor) -> float:
    return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))


def naive_neighbour(x: Tensor, i: int) -> int:
    return max((j for j in range(len(x)) if j != i), key=lambda j: cosine(x[i], x[j]))


def naive_step(x: Tensor) -> set[frozenset[int]]:
    """Eq. 1 of FINCH: a and b are linked if b = nn(a), a = nn(b) or nn(a) = nn(b)."""
    nn = [naive_neighbour(x, i) for i in range(len(x))]
    left, found = set(range(len(x))), set()
    while left:
        reached, edge = set(), [left.pop()]
        while edge:
            a = edge.pop()
            reached.add(a)
            linked = {b for b in left if nn[a] == b or nn[b] == a or nn[a] == nn[b]}
            left -= linked
            edge.extend(linked)
        found.add(frozenset(reached))
    return found


def naive_hierarchy(x: Tensor) -> list[set[frozenset[int]]]:
    parts = [frozenset([i]) for i in range(len(x))]
    found = []
    while len(parts) > 1:
        means = torch.stack([x[sorted(part)].mean(0) for part in parts])
        parts = [frozenset().union(*(parts[j] for j in step)) for step in naive_step(means)]
        found.append(set(parts))
    return found


def test_first_neighbours_against_a_double_loop_over_several_blocks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finch, "BLOCK", 7)
    x = points(31)
    similarity, row = first_neighbours(x)
    for i in range(31):
        assert row[i] == naive_neighbour(x, i)
        assert float(similarity[i]) == pytest.approx(cosine(x[i], x[int(row[i])]))


def test_the_hierarchy_is_the_naive_one() -> None:
    for seed in range(3):
        x = points(50, seed=seed)
        assert [groups(labels) for labels in partitions(x)] == naive_hierarchy(x)


def test_labels_run_from_zero_and_the_hierarchy_ends_with_one_cluster() -> None:
    counts = []
    for labels in partitions(points(200)):
        k = int(labels.max()) + 1
        assert sorted(set(labels.tolist())) == list(range(k))
        counts.append(k)
    assert all(2 * after <= before for before, after in zip([200, *counts], counts, strict=False))
    assert counts[-1] == 1


def test_neighbours_go_by_angle_not_by_distance() -> None:
    x = on_circle(0, 2, 60, 62) * torch.tensor([[1.0], [50.0], [1.0], [50.0]])
    assert groups(next(partitions(x))) == {frozenset({0, 1}), frozenset({2, 3})}


def test_requested_clusters_join_the_closest_means() -> None:
    x = on_circle(0, 1, 30, 32, 90, 93)
    pairs = {frozenset({0, 1}), frozenset({2, 3}), frozenset({4, 5})}
    assert groups(clusters(x, 3)) == pairs
    # The means stand at 0.5, 31 and 91.5 degrees: the first two are the closest.
    assert groups(clusters(x, 2)) == {frozenset({0, 1, 2, 3}), frozenset({4, 5})}
    assert groups(clusters(x, 1)) == {frozenset(range(6))}


def test_what_the_first_partition_joined_is_never_taken_apart() -> None:
    x = on_circle(0, 1, 30, 32, 90, 93)
    assert groups(clusters(x, 4)) == groups(clusters(x, 6)) == groups(next(partitions(x)))


@pytest.mark.parametrize("count", [2, 3, 5])
def test_requested_clusters_against_a_naive_algorithm_2(count: int) -> None:
    for seed in range(3):
        x = points(60, seed=seed)
        parts = [p for p in naive_hierarchy(x) if len(p) >= count][-1]
        while len(parts) > count:
            mean = {part: x[sorted(part)].mean(0) for part in parts}
            a, b = max(combinations(parts, 2), key=lambda ab: cosine(mean[ab[0]], mean[ab[1]]))
            parts = (parts - {a, b}) | {a | b}
        assert groups(clusters(x, count)) == parts


def test_means_are_taken_anew_after_each_join() -> None:
    # Pairs around 10, 0, 22 and 36 degrees. 10 and 0 join at 5; then 22 is nearer to 36, 14 degrees
    # off, than to 5, although it was nearer to 10. A single linkage would leave 36 alone.
    x = on_circle(9.9, 10.1, -0.1, 0.1, 21.9, 22.1, 35.9, 36.1)
    assert groups(clusters(x, 2)) == {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6, 7})}


@pytest.mark.parametrize("n", [1, 2, 9, 40, 150])
def test_requested_clusters_are_as_many_as_asked_for_if_there_are_as_many(n: int) -> None:
    x = points(n)
    finest = int(next(partitions(x)).max()) + 1
    for count in (1, 2, 3, 8, n, n + 5):
        labels = clusters(x, count)
        assert sorted(set(labels.tolist())) == list(range(min(count, finest)))


def test_separate_blobs_are_found() -> None:
    centre = torch.eye(3, dtype=torch.float64).repeat_interleave(20, 0) * 10
    labels = clusters(centre + 0.3 * points(60, width=3), 3)
    assert groups(labels) == {frozenset(range(20 * i, 20 * i + 20)) for i in range(3)}


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_constant_features_are_one_cluster(value: float) -> None:
    x = torch.full((30, 4), value)
    assert [int(labels.max()) for labels in partitions(x)][-1] == 0
    assert len(set(clusters(x, 8).tolist())) <= 8


def test_a_single_point_is_one_cluster() -> None:
    assert [labels.tolist() for labels in partitions(points(1))] == [[0]]


def test_cluster_means_against_a_loop() -> None:
    x, labels = points(11), torch.tensor([0, 2, 1, 1, 0, 2, 2, 2, 0, 1, 3])
    means = cluster_means(x, labels)
    for k in range(4):
        members = [x[i] for i in range(11) if labels[i] == k]
        assert torch.allclose(means[k], sum(members[1:], members[0]) / len(members))


def test_inputs_are_left_alone() -> None:
    x = points(20)
    before = x.clone()
    list(partitions(x))
    clusters(x, 3)
    assert torch.equal(x, before)
