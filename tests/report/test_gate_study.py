from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.report.album import Album
from fidal.report.evidence import first_queries, last_queries
from fidal.report.extras import Albums
from fidal.report.frame import RunRows, Study
from fidal.report.gate_study import RULES, gate_study
from fidal.report.reading import read_folders
from fidal.types import OUTLIER

Kept = tuple[RunRows, Album]


@pytest.fixture
def kept(real: Path) -> Kept:
    (study,) = read_folders([real / "runs"]).studies
    run = study.run("fidal", 0)
    assert run is not None
    return run, Albums(real / "data" / "cache").of(run.config)[0]


def test_the_rule_that_ran_does_again_what_it_did(kept: Kept) -> None:
    run, album = kept
    found = gate_study(run, album)
    assert found is not None
    assert (found.density, found.deployed) == ("likelihood-ratio", "guarded-otsu")
    rows = {result.site: result.numbers for result in run.results if result.round == 1}
    for ruling, query in zip(found.of("guarded-otsu"), last_queries(run), strict=True):
        assert ruling.site == query.site
        assert ruling.cut == pytest.approx(rows[ruling.site]["gate.cut"])
        assert ruling.caught == rows[ruling.site]["gate.true_recall"]
        assert ruling.lost == rows[ruling.site]["gate.true_id_loss"]
        np.testing.assert_allclose(found.coverage[query.site], query.scores["coverage"], atol=1e-6)


def test_every_rule_is_judged_at_every_site_by_the_truth(kept: Kept) -> None:
    run, album = kept
    found = gate_study(run, album)
    assert found is not None
    places = [(ruling.site, ruling.rule) for ruling in found.rulings]
    assert places == [(site, rule) for site in ("east", "west") for rule in RULES]
    for ruling in found.rulings:
        G, foreign = found.coverage[ruling.site], found.foreign[ruling.site]
        assert ruling.caught == pytest.approx((G[foreign] < ruling.cut).mean())
        assert ruling.lost == pytest.approx((G[~foreign] < ruling.cut).mean())
    (_, query), _ = first_queries(run)
    assert found.foreign["east"].tolist() == [album.label(s) == OUTLIER for s in query.ids]


def test_no_gate_no_features_no_truth_no_study(kept: Kept, study: Study, real: Path) -> None:
    run, album = kept
    assert gate_study(study.runs[0], album) is None  # Random has no gate
    bare = Album(replace(album.benchmark, coverage=None))
    assert gate_study(run, bare) is None
    assert gate_study(replace(run, folder=Path("nowhere")), album) is None
    whole = album.benchmark.manifest
    unknown = Album(
        replace(album.benchmark, manifest=replace(whole, label=np.full(len(whole.ids), -2)))
    )
    assert gate_study(run, unknown) is None
