import numpy as np
import pytest

from fidal.data.drawing.artefacts import ARTEFACTS
from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.clinics import CLINICS

CAMERA = CLINICS["summit"].camera


def drawn(kind: str, n: int = 24) -> np.ndarray:
    images = []
    for seed in range(n):
        canvas = Canvas(64, np.random.default_rng(seed))
        ARTEFACTS[kind](canvas, CAMERA)
        images.append(canvas.image.clip(0, 1))
    return np.stack(images)


def detail(images: np.ndarray) -> np.ndarray:
    """Mean difference of pixels two apart, in brightness: more than the sensor's noise."""
    grey = images.mean(1)
    return np.abs(grey[:, :, 2:] - grey[:, :, :-2]).mean((1, 2))


@pytest.mark.parametrize("kind", list(ARTEFACTS))
def test_every_kind_is_drawn_and_varies(kind: str) -> None:
    images = drawn(kind)
    assert np.isfinite(images).all()
    assert images.std(0).mean() > 0.03


def test_rulers_have_black_ticks() -> None:
    assert ((drawn("ruler").max(1) < 0.35).mean((1, 2)) > 0.01).mean() > 0.9


def bluest(kind: str) -> np.ndarray:
    """How much bluer than red the bluest hundredth of each image is."""
    images = drawn(kind)
    return np.quantile((images[:, 2] - images[:, 0]).reshape(len(images), -1), 0.99, axis=1)


def test_ink_is_blue() -> None:
    assert np.median(bluest("ink")) > 0.15 > np.median(bluest("ruler"))


def test_blur_and_empty_frames_have_less_detail_than_rulers_and_bubbles() -> None:
    dull = np.concatenate([detail(drawn("blur")), detail(drawn("empty"))])
    busy = np.concatenate([detail(drawn("ruler")), detail(drawn("bubbles"))])
    assert np.quantile(dull, 0.9) < np.quantile(busy, 0.1)


def test_bubbles_glint() -> None:
    brightest = {k: drawn(k).min(1).max((1, 2)) for k in ("bubbles", "blur")}
    assert np.median(brightest["bubbles"]) > 0.75 > np.median(brightest["blur"])


def test_empty_frames_are_skin_or_black_or_drowned_in_light() -> None:
    level = drawn("empty", 60).mean((1, 2, 3))
    assert (level < 0.25).any() and (level > 0.85).any() and ((level > 0.35) & (level < 0.8)).any()


def test_telephones_do_not_know_the_clinic_s_camera() -> None:
    def clinical(site: str) -> np.ndarray:
        canvas = Canvas(64, np.random.default_rng(3))
        ARTEFACTS["clinical"](canvas, CLINICS[site].camera)
        return canvas.image

    assert np.array_equal(clinical("summit"), clinical("valley"))
