import numpy as np
import pytest

from fidal.data.drawing.artefacts import ARTEFACTS
from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.clinics import CLINICS, photograph
from fidal.data.drawing.lesions import CLASSES

SITES = list(CLINICS)


@pytest.mark.parametrize("site", SITES)
def test_shares_are_shares(site: str) -> None:
    clinic = CLINICS[site]
    assert len(clinic.classes) == len(CLASSES)
    assert sum(clinic.classes) == pytest.approx(1) and min(clinic.classes) > 0
    assert list(clinic.artefacts) == list(ARTEFACTS)
    assert sum(clinic.artefacts.values()) == pytest.approx(1)
    assert 0.25 <= clinic.ood_share <= 0.45


def test_sites_differ_in_outliers_classes_and_kinds() -> None:
    assert len({clinic.ood_share for clinic in CLINICS.values()}) == 4
    assert len({clinic.classes for clinic in CLINICS.values()}) == 4
    assert len({max(c.artefacts, key=c.artefacts.__getitem__) for c in CLINICS.values()}) >= 3


@pytest.mark.parametrize("site", SITES)
def test_classes_have_a_long_tail(site: str) -> None:
    classes = CLINICS[site].classes
    assert max(classes) > 8 * min(classes)


def mean_colour(site: str) -> np.ndarray:
    images = []
    for seed in range(20):
        canvas = Canvas(64, np.random.default_rng(seed))
        photograph(canvas, CLINICS[site].camera)
        images.append(canvas.image[:, 16:48, 16:48].mean((1, 2)))
    return np.mean(images, axis=0)


def test_a_white_sheet_shows_each_camera_s_cast_and_light() -> None:
    found = {site: mean_colour(site) for site in SITES}
    for site, (red, green, blue) in found.items():
        cast = CLINICS[site].camera.cast
        assert (green / red, blue / red) == pytest.approx(
            (cast[1] / cast[0], cast[2] / cast[0]), rel=0.05
        )
    assert found["valley"].sum() < found["meadow"].sum()


def test_a_vignette_darkens_the_corners_and_a_round_field_blackens_them() -> None:
    def corner(site: str, seed: int) -> float:
        canvas = Canvas(64, np.random.default_rng(seed))
        photograph(canvas, CLINICS[site].camera)
        return float(canvas.image[:, :3, :3].mean() / canvas.image[:, 28:36, 28:36].mean())

    meadow = [corner("meadow", seed) for seed in range(60)]
    harbour = [corner("harbour", seed) for seed in range(60)]
    assert min(harbour) > 0.5
    assert 0.15 < np.mean(np.array(meadow) < 0.2) < 0.55
    assert np.mean(meadow) < np.mean(harbour)
