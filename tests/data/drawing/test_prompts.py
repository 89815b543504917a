from pathlib import Path

import numpy as np
import pytest

from fidal.data.drawing.clinics import CLINICS, Camera
from fidal.data.drawing.gallery import Commission, gallery
from fidal.data.drawing.lesions import CLASSES
from fidal.data.drawing.prompts import CAMERAS, SCALE, SUBJECTS, prompt_scores
from fidal.encoders.scattering import Scattering


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def scores(cache: Path, camera: Camera, each: int) -> np.ndarray:
    orders = [Commission(s, camera, ("unseen", s, i)) for s in SUBJECTS for i in range(each)]
    rows = Scattering().encode(gallery(orders, 64, cache))
    return prompt_scores(Scattering(), rows, 64, cache).logits


def test_eight_prompts_are_classes_and_six_are_not(cache: Path) -> None:
    found = prompt_scores(Scattering(), np.ones((3, 512), np.float32), 64, cache)
    assert found.logits.shape == (3, 14) and found.logits.dtype == np.float32
    assert found.in_distribution == (True,) * 8 + (False,) * 6
    assert np.abs(found.logits).max() <= SCALE * 1.0001


def test_prompts_know_most_artefacts_and_few_classes(cache: Path) -> None:
    logits = scores(cache, CAMERAS[0], 8)
    truth = np.repeat(np.arange(14), 8)
    inside = truth < len(CLASSES)
    right = (logits.argmax(1) < len(CLASSES)) == inside
    assert 0.75 < right.mean() < 1
    exact = logits[inside, : len(CLASSES)].argmax(1) == truth[inside]
    assert 0.2 < exact.mean() < 0.8


def test_no_site_has_a_camera_of_the_references() -> None:
    assert not set(CAMERAS) & {clinic.camera for clinic in CLINICS.values()}
