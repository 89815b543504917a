from datetime import timedelta

from fidal.encoders.progress import Progress


def test_the_rate_is_that_of_what_was_computed() -> None:
    half = Progress(done=600, total=1000, computed=100, seconds=50)
    assert half.rate == 2 and half.left == timedelta(seconds=200)
    assert str(half) == "600 of 1,000 images, 2.0 images/s, 0:03:20 left"


def test_nothing_is_promised_before_anything_was_computed() -> None:
    found = Progress(done=600, total=1000, computed=0, seconds=0)
    assert found.rate == 0 and found.left is None
    assert str(found) == "600 of 1,000 images, from the cache"


def test_at_the_end_nothing_is_left() -> None:
    end = Progress(done=10, total=10, computed=10, seconds=4)
    assert end.left == timedelta(0)
    assert str(end) == "10 of 10 images, 2.5 images/s"
