from fidal.data.preparing.fedembed.paper import ARTEFACTS, PAPER, SITES


def test_the_scanners_add_up_to_the_papers_totals() -> None:
    assert tuple(PAPER) == SITES
    assert sum(scanner.train for scanner in PAPER.values()) == 222_700
    assert sum(scanner.test for scanner in PAPER.values()) == 65_891
    assert sum(scanner.outliers for scanner in PAPER.values()) == 36_865


def test_total_ood_and_ratios_of_table_s2() -> None:
    totals = {"selenia_dimensions": 33_804, "senograph_2000d": 1_421}
    totals |= {"lorad_selenia": 1_258, "clearview_csm": 382}
    shares = {"selenia_dimensions": 13.12, "senograph_2000d": 11.06}
    shares |= {"lorad_selenia": 12.37, "clearview_csm": 4.83}
    assert {site: scanner.outliers for site, scanner in PAPER.items()} == totals
    assert {
        site: round(100 * scanner.outliers / scanner.images, 2) for site, scanner in PAPER.items()
    } == shares


def test_types_over_all_scanners() -> None:
    """The totals that add up the columns of Table S2."""
    totals = {
        kind: sum(scanner.artefacts[kind] for scanner in PAPER.values()) for kind in ARTEFACTS
    }
    assert totals == {
        "circle": 23_145,
        "triangle": 4_123,
        "implant": 8_527,
        "devices": 752,
        "compression": 318,
    }
