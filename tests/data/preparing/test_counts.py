from dataclasses import replace
from pathlib import Path

import pytest

from fidal.data.preparing.collected import Collected, Count
from fidal.data.preparing.counts import check_counts, differing
from tests.data.preparing.made import Made, files


def with_counts(folder: Path, *numbers: tuple[int | None, int], missing: int = 0) -> Collected:
    counts = tuple(Count("images", f"site{i}", *pair) for i, pair in enumerate(numbers))
    names = tuple(f"{i}.png" for i in range(missing))
    return replace(Made().collect([folder]), counts=counts, missing=names)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return files(tmp_path / "downloads")


def test_counts_that_differ_say_expected_found_and_what_is_missing(
    folder: Path, tmp_path: Path
) -> None:
    collected = with_counts(folder, (1200, 7), (5, 5), (3, 4), (2, 1), (2, 0), missing=1234)
    with pytest.raises(ValueError, match="--allow-partial") as error:
        check_counts("fedx", collected, tmp_path / "out", allow_partial=False)
    assert str(error.value).startswith(
        "fedx: 4 of 5 counts differ: images, site0: expected 1,200, found 7; "
        "images, site2: expected 3, found 4; images, site3: expected 2, found 1; ...; "
        "1,234 files are missing, first 0.png, 1.png, 2.png, all in "
    )
    assert len((tmp_path / "out/missing.txt").read_text().splitlines()) == 1234
    check_counts("fedx", collected, tmp_path / "out", allow_partial=True)
    check_counts("fedx", with_counts(folder, (5, 5)), tmp_path / "out", allow_partial=False)
    assert not (tmp_path / "out/missing.txt").exists()


def test_a_count_without_an_expectation_is_only_reported(folder: Path, tmp_path: Path) -> None:
    collected = with_counts(folder, (None, 7), (0, 0))
    check_counts("fedx", collected, tmp_path / "out", allow_partial=False)
    assert differing(collected.counts) == []
    assert not (tmp_path / "out").exists()


def test_nothing_found_where_nothing_should_be_is_right_and_the_rest_is_not() -> None:
    counts = [Count("x", "s", 0, 0), Count("x", "s", 0, 1), Count("x", "s", 1, 0)]
    assert differing(counts) == counts[1:]
