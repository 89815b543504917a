from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.site.knowledge import known_before
from fidal.site.site import Site
from fidal.types import OUTLIER
from tests.site.clinic import make_site


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """Two rounds asked: 0 = images 0-3, answered; 1 = images 4-6, of which 5 has no answer."""
    site = make_site(tmp_path)
    name = [site.data.ids[row] for row in site.data.train]
    site.ledger.ask(0, [name[i] for i in (2, 0, 3, 1)])
    site.ledger.answer_all({name[3]: 1, name[0]: OUTLIER, name[2]: 0, name[1]: 3})
    site.ledger.ask(1, [name[i] for i in (6, 5, 4)])
    site.ledger.answer_all({name[6]: OUTLIER, name[4]: 2})
    return site


def test_what_each_round_knew(site: Site) -> None:
    row = site.data.train
    nothing = known_before(0, site.data, site.ledger)
    assert len(nothing.labelled) == len(nothing.outliers) == 0
    assert nothing.unasked.tolist() == row.tolist()
    first = known_before(1, site.data, site.ledger)
    assert first.labelled.tolist() == row[[3, 2, 1]].tolist()
    assert first.labels.tolist() == [1, 0, 3]
    assert first.outliers.tolist() == row[[0]].tolist()
    assert first.unasked.tolist() == row[4:].tolist()
    second = known_before(2, site.data, site.ledger)
    assert second.labelled.tolist() == row[[3, 2, 1, 4]].tolist()
    assert second.outliers.tolist() == row[[0, 6]].tolist()


def test_who_arrives_later_is_no_candidate_before(site: Site) -> None:
    row = site.data.train
    since = np.zeros(len(site.data.ids), dtype=np.int64)
    since[row[[8, 9]]] = 2
    later = replace(site.data, since=since)
    assert known_before(1, later, site.ledger).unasked.tolist() == [*row[4:8], *row[10:]]
    assert known_before(2, later, site.ledger).unasked.tolist() == row[7:].tolist()


def test_what_was_asked_and_not_answered_is_neither_labelled_nor_a_candidate(site: Site) -> None:
    known = known_before(2, site.data, site.ledger)
    waiting = site.data.train[5]
    for rows in (known.labelled, known.outliers, known.unasked):
        assert waiting not in rows


def test_only_the_warm_up_was_drawn_at_random(site: Site) -> None:
    known = known_before(2, site.data, site.ledger)
    assert known.random_draw.tolist() == [True, True, True, False]


def test_a_correction_counts_from_then_on(site: Site) -> None:
    name = site.data.ids[site.data.train[3]]
    site.ledger.answer(name, OUTLIER, by="eva")
    known = known_before(1, site.data, site.ledger)
    assert known.labels.tolist() == [0, 3] and len(known.outliers) == 2


def test_images_that_went_away_are_counted_and_not_named(site: Site) -> None:
    fewer = replace(site.data, train=site.data.train[2:])
    with pytest.raises(ValueError, match="'east': 2 images that its ledger asked are not") as error:
        known_before(1, fewer, site.ledger)
    assert "secret" not in str(error.value)


def test_rows_are_integers_even_where_there_are_none(tmp_path: Path) -> None:
    known = known_before(0, make_site(tmp_path).data, make_site(tmp_path).ledger)
    assert known.labelled.dtype == known.labels.dtype == known.outliers.dtype == np.int64
