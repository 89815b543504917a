from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgba

from fidal.report.album import Album, open_album
from fidal.report.evidence import SiteQuery, last_queries
from fidal.report.exemplars import CAUGHT, DIVERSE, EASY, FIRST, HARD, MISSED, choose
from fidal.report.figures.exemplars import draw
from fidal.report.reading import read_folders
from tests.report.made import SITES

Kept = tuple[tuple[SiteQuery, ...], Album]


@pytest.fixture(scope="module")
def kept(pictured: Path, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    run = read_folders([pictured / "runs"]).studies[0].run("fidal", 0)
    assert run is not None
    return last_queries(run), open_album(run.config, tmp_path_factory.mktemp("cache"))


def test_the_sites_own_files_are_read_back(kept: Kept) -> None:
    queries, album = kept
    assert [query.site for query in queries] == list(SITES)
    for query in queries:
        assert (query.round, query.cut, len(query.asked)) == (5, 0.4, 10)
        assert len(query.ids) == len(query.scores["coverage"])
        assert all(album.label(sample) == label for sample, label in query.answers.items())


def test_rows_are_chosen_by_their_rule(kept: Kept) -> None:
    queries, album = kept
    sheet = choose(queries, album)
    assert sheet.rows == (EASY, DIVERSE, HARD, CAUGHT, MISSED)
    assert (sheet.sites, sheet.each) == (SITES, 2)
    query = queries[0]
    own = {
        kind: [e for e in sheet.exemplars if e.kind == kind and e.site == "north"]
        for kind in sheet.rows
    }
    number = dict(zip(query.ids, query.scores["similarity_id"].tolist(), strict=True))
    inside = sorted(number[s] for s, label in query.answers.items() if label >= 0)
    assert [number[e.sample] for e in own[EASY]] == inside[::-1][:2]
    assert [number[e.sample] for e in own[DIVERSE]] == inside[:2]
    assert own[EASY][0].score == f"$S_{{ID}}$ {inside[-1]:.2f}"
    coverage = dict(zip(query.ids, query.scores["coverage"].tolist(), strict=True))
    refused = [s for s, k in zip(query.ids, query.scores["kept"], strict=True) if not k]
    foreign = sorted(coverage[s] for s in refused if album.label(s) < 0)
    assert [coverage[e.sample] for e in own[CAUGHT]] == [foreign[0], foreign[-1]]
    assert all(album.label(e.sample) >= 0 for e in own[MISSED])


def test_a_strategy_without_scores_shows_its_first_choices(
    kept: Kept,
) -> None:
    queries, album = kept
    bare = [SiteQuery(q.site, q.round, (), {}, float("nan"), q.asked, q.answers) for q in queries]
    sheet = choose(bare, album)
    assert sheet.rows == (FIRST, HARD)
    shown = [e.sample for e in sheet.exemplars if e.site == "north" and e.kind == FIRST]
    assert shown == [s for s in queries[0].asked if queries[0].answers[s] >= 0][:2]


def test_the_sheet_shows_the_pixels_in_frames(kept: Kept) -> None:
    queries, album = kept
    sheet = choose(queries, album)
    made = draw(sheet, album)
    assert made is not None
    (axes,) = made.axes
    assert len(axes.images) == len(axes.patches) == len(sheet.exemplars)
    for image, frame, exemplar in zip(axes.images, axes.patches, sheet.exemplars, strict=True):
        np.testing.assert_array_equal(image.get_array(), album.picture(exemplar.sample))
        assert frame.get_edgecolor() == to_rgba(exemplar.kind.colour)
    texts = [text.get_text() for text in axes.texts]
    assert any(text.startswith("grey\n$G$ 0.") for text in texts)
    assert "none" in texts


def test_no_text_leaves_the_sheet_or_runs_into_an_image(
    kept: Kept,
) -> None:
    queries, album = kept
    made = draw(choose(queries, album), album)
    assert made is not None
    made.draw_without_rendering()
    whole = made.bbox
    boxes = [text.get_window_extent() for text in made.axes[0].texts]
    images = [frame.get_window_extent() for frame in made.axes[0].patches]
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0 and box.x1 <= whole.x1 and box.y1 <= whole.y1
        assert not any(box.overlaps(image) for image in images)


def test_vectors_have_no_pictures(kept: Kept) -> None:
    from dataclasses import replace

    queries, album = kept
    flat = np.zeros((len(album.benchmark.manifest.ids), 4), np.float32)
    blind = Album(replace(album.benchmark, inputs=flat))
    assert draw(choose(queries, blind), blind) is None
