import re
import warnings

import pytest
from matplotlib.figure import Figure

from fidal.pilot.figure import draw
from fidal.pilot.recommendation import recommend
from fidal.pilot.trials import try_gates
from fidal.report.export import png
from tests.pilot.made import pool


def drawn(sites: int, ood_share: float = 0.3, known: bool = True, n_outliers: int = 20) -> Figure:
    found = [
        try_gates(pool(f"site {i}", i, ood_share, known, n=120, n_outliers=n_outliers))
        for i in range(sites)
    ]
    chosen = recommend(found, "labels")
    assert chosen is not None
    return draw(found, chosen)


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(match=lambda a: hasattr(a, "get_text"))]


@pytest.mark.parametrize(
    ("sites", "ood_share", "known", "outliers"),
    [(2, 0.3, True, 20), (5, 0.3, True, 20), (1, 0.0, True, 0), (3, 0.3, False, 20)],
)
def test_the_page_is_laid_out_without_complaint(
    sites: int, ood_share: float, known: bool, outliers: int
) -> None:
    figure = drawn(sites, ood_share, known, outliers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert png(figure, dpi=60).startswith(b"\x89PNG")
    assert {f"site {i}" for i in range(sites)} <= set(texts(figure))


def test_truth_has_a_grid_of_its_own_where_there_is_one() -> None:
    with_truth, without = texts(drawn(2)), texts(drawn(2, known=False))
    assert "by the truth of a benchmark" in with_truth
    assert "by the truth of a benchmark" not in without and "candidates" in without
    pairs = [text for text in with_truth if re.fullmatch(r"\d+ / \d+", text)]
    assert len(pairs) == 6 + 2 * 24
