import math

import pytest
import torch

from fidal.neighbours import similarity
from fidal.neighbours.similarity import class_similarity, max_similarity, nearest, unit


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "BLOCK", 8)


def rows(n: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 5, dtype=torch.float64, generator=generator)


def cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))


def test_unit_rows_have_length_one_and_a_zero_row_stays() -> None:
    got = unit(torch.tensor([[3.0, 4.0], [0.0, 0.0]]))
    assert got.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]


def test_max_similarity_against_a_double_loop() -> None:
    u, labelled = rows(21, 0), rows(9, 1)
    want = [max(cosine(a, b) for b in labelled.tolist()) for a in u.tolist()]
    got = max_similarity(unit(u), unit(labelled))
    torch.testing.assert_close(got, torch.tensor(want, dtype=torch.float64))


def test_max_similarity_to_nobody_is_zero() -> None:
    assert max_similarity(unit(rows(3, 0)), rows(0, 1)).tolist() == [0.0, 0.0, 0.0]


def test_class_similarity_against_a_double_loop() -> None:
    u, labelled = rows(21, 0), rows(9, 1)
    labels = [0, 3, 0, 1, 1, 3, 0, 0, 1]
    got = class_similarity(unit(u), unit(labelled), torch.tensor(labels), classes=4)
    for i, a in enumerate(u.tolist()):
        for c in (0, 1, 3):
            same = [cosine(a, b) for b, y in zip(labelled.tolist(), labels, strict=True) if y == c]
            assert got[i, c].item() == pytest.approx(max(same))
    assert got[:, 2].tolist() == [-1.0] * 21  # nobody is labelled 2
    torch.testing.assert_close(got.amax(1), max_similarity(unit(u), unit(labelled)))


def test_nearest_against_a_double_loop() -> None:
    u, labelled = rows(21, 2), rows(9, 3)
    values, places = nearest(unit(u), unit(labelled), 3)
    for i, a in enumerate(u.tolist()):
        found = [cosine(a, b) for b in labelled.tolist()]
        want = sorted(range(9), key=lambda j: -found[j])[:3]
        assert places[i].tolist() == want
        assert values[i].tolist() == pytest.approx([found[j] for j in want])
