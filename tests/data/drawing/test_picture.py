from dataclasses import replace

import numpy as np
import pytest

from fidal.data.drawing.artefacts import ARTEFACTS
from fidal.data.drawing.clinics import CLINICS, Camera
from fidal.data.drawing.lesions import CLASSES
from fidal.data.drawing.picture import picture

CAMERA = CLINICS["summit"].camera


def taken(subject: str, seed: int = 0, camera: Camera = CAMERA, pixels: int = 32) -> np.ndarray:
    return picture(subject, camera, pixels, np.random.default_rng(seed))


@pytest.mark.parametrize("subject", [*CLASSES, *ARTEFACTS])
def test_every_class_and_artefact_is_a_colour_image(subject: str) -> None:
    images = [taken(subject, seed) for seed in range(4)]
    assert all(image.shape == (32, 32, 3) and image.dtype == np.uint8 for image in images)
    assert len({image.tobytes() for image in images}) == 4


def test_subject_camera_and_generator_decide_and_nothing_else() -> None:
    first = taken("globular")
    np.random.default_rng().random()
    assert np.array_equal(taken("globular"), first)
    assert not np.array_equal(taken("reticular"), first)
    assert not np.array_equal(taken("globular", camera=CLINICS["valley"].camera), first)
    assert not np.array_equal(taken("globular", seed=1), first)


@pytest.mark.parametrize(("light", "value"), [(0.0, 0), (1e6, 255)])
def test_what_is_too_dark_or_too_bright_is_clipped_and_does_not_wrap(
    light: float, value: int
) -> None:
    lamp = replace(
        CAMERA, light=(light, light), slope=(0, 0), vignette=(0, 0), round_field=0, grain=0
    )
    assert (taken("globular", camera=lamp) == value).all()


def test_the_channels_are_red_green_and_blue() -> None:
    red_light = replace(CAMERA, cast=(1.0, 0.3, 0.1), grain=0)
    red, green, blue = taken("globular", camera=red_light).reshape(-1, 3).mean(0)
    assert red > 2 * green > 2 * blue


def test_a_lesion_is_in_the_middle_and_an_empty_frame_has_none() -> None:
    def darkened(subject: str) -> float:
        """How much darker the middle is than the rim, mean over images."""
        gaps = []
        for seed in range(12):
            grey = taken(subject, seed, CLINICS["harbour"].camera).mean(2)
            rim = np.concatenate([grey[:3].ravel(), grey[-3:].ravel()]).mean()
            gaps.append(rim - grey[10:22, 10:22].mean())
        return float(np.mean(gaps))

    assert darkened("reticular") > 30 > 10 > darkened("empty")


def test_a_stronger_magnification_makes_lesions_larger() -> None:
    def dark(zoom: float) -> float:
        camera = replace(CAMERA, zoom=zoom, vignette=(0, 0), round_field=0)
        images = np.stack([taken("reticular", seed, camera) for seed in range(12)])
        return float((images[..., 2] < 90).mean())

    assert dark(1.5) > 1.5 * dark(0.6)
