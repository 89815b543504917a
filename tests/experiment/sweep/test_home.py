from pathlib import Path

import pytest

from fidal.experiment.config import ConfigError
from fidal.experiment.sweep.home import Home


def test_a_folder_belongs_to_one_sweep(tmp_path: Path) -> None:
    home = Home(tmp_path / "runs" / "grid")
    home.claim("grid")
    home.claim("grid")
    before = {file: file.read_bytes() for file in home.path.iterdir()}
    with pytest.raises(ConfigError, match=r"belongs to the sweep 'grid', and this one is 'other'"):
        home.claim("other")
    assert {file: file.read_bytes() for file in home.path.iterdir()} == before


@pytest.mark.parametrize("text", ["", "[1]", '{"nam": "grid"}', "\x00"])
def test_a_damaged_claim_is_said_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(ConfigError, match=r"sweep\.json is not a sweep's"):
        Home(tmp_path).claim("grid")
    assert (tmp_path / "sweep.json").read_text() == text
