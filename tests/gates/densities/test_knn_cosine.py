import math

import pytest
import torch

from fidal.gates.densities.knn_cosine import KnnCosine
from tests.gates.clinic import clinic


def cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


@pytest.mark.parametrize(("k", "counted"), [(1, 1), (5, 5), (50, 12)])
def test_mean_of_the_nearest_against_loops(k: int, counted: int) -> None:
    c = clinic(4, 0.3, n=25, n_labelled=12, width=6)
    score = KnnCosine(k=k).fit(c.labelled, c.labels, c.outliers)
    want = [
        sum(sorted((cosine(q, z) for z in c.labelled.tolist()), reverse=True)[:k]) / counted
        for q in c.candidates.tolist()
    ]
    assert score(c.candidates).tolist() == pytest.approx(want)


def test_only_angles_count() -> None:
    labelled = torch.tensor([[2.0, 0.0], [0.0, 7.0]])
    score = KnnCosine(k=1).fit(labelled, torch.zeros(2, dtype=torch.int64), labelled[:0])
    found = score(torch.tensor([[5.0, 0.0], [1.0, 1.0], [-3.0, 0.0], [0.0, 0.0]])).tolist()
    assert found == pytest.approx([1, math.sqrt(0.5), 0, 0])
