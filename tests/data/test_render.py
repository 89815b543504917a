import threading
import time

import numpy as np
import pytest
from numpy.typing import NDArray

from fidal.data import render
from fidal.data.render import render_all


class Shade:
    """A number -> an image of that value; some numbers are images that cannot be made."""

    shape = (2, 2, 1)
    identity = "shade"

    def __call__(self, origin: int) -> NDArray[np.uint8]:
        if origin == 13:
            raise ValueError("thirteen")
        if origin == 14:
            raise FileNotFoundError
        if origin == 15:
            return np.ones((2, 2, 3), np.uint8)
        time.sleep(0.001 * (origin % 3))
        return np.full(self.shape, origin, np.uint8)


def test_batches_come_in_order_with_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "BATCH", 3 * 4)
    batches = list(render_all([5, 4, 13, 0, 14, 9, 8], Shade()))
    assert [len(batch) for batch in batches] == [3, 3, 1]
    told = [made if isinstance(made, str) else int(made[0, 0, 0]) for b in batches for made in b]
    assert told == [5, 4, "thirteen", "every pixel is black", "there is no file 14", 9, 8]


def test_a_render_that_breaks_its_word_is_not_the_images_fault() -> None:
    with pytest.raises(TypeError, match=r"shade gives uint8 of shape \(2, 2, 3\)"):
        list(render_all([15], Shade()))


def test_images_are_made_in_parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render.os, "cpu_count", lambda: 2)
    both = threading.Barrier(2, timeout=10)

    class Meeting(Shade):
        def __call__(self, origin: int) -> NDArray[np.uint8]:
            both.wait()
            return super().__call__(origin)

    (batch,) = render_all([1, 2], Meeting())
    assert not any(isinstance(made, str) for made in batch)
