import re
from pathlib import Path

import numpy as np

from fidal.report.figures import Drawn
from fidal.report.files import slug, write_figure, write_table
from fidal.report.style import ONE_COLUMN, TWO_COLUMNS, figure
from tests.report.tables.test_table import TABLE


def drawn(width: float, photograph: bool = False) -> Drawn:
    made = figure(width, 1.0)
    axes = made.add_subplot()
    if photograph:
        axes.imshow(np.zeros((4, 4, 3), np.uint8))
    return Drawn("a name at x=1", "A & B", "Said.", made)


def test_a_figure_is_written_twice_and_shown_as_vectors(tmp_path: Path) -> None:
    plate = write_figure(drawn(ONE_COLUMN), tmp_path, "one")
    assert plate.file == "figures/one-a-name-at-x-1"
    assert (tmp_path / f"{plate.file}.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / f"{plate.file}.svg").read_text()
    assert plate.image.startswith("<svg") and not plate.wide
    assert write_figure(drawn(TWO_COLUMNS), tmp_path, "two").wide


def test_photographs_are_shown_as_pixels(tmp_path: Path) -> None:
    plate = write_figure(drawn(TWO_COLUMNS, photograph=True), tmp_path, "one")
    assert re.match(r'<img alt="A &amp; B" src="data:image/png;base64,', plate.image)


def test_a_table_is_written_three_ways(tmp_path: Path) -> None:
    file = write_table(TABLE, tmp_path, "key")
    assert file == "tables/key-small"
    endings = sorted(path.suffix for path in (tmp_path / "tables").iterdir())
    assert endings == [".csv", ".md", ".tex"]


def test_slug() -> None:
    assert slug("fedham (ood_share=0.3, B=50)") == "fedham-ood-share-0.3-b-50"
