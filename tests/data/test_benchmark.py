from pathlib import Path

import numpy as np
import pytest

from fidal.data import BENCHMARKS
from fidal.data.benchmark import DataAbsent, Manifest, data_folder
from fidal.data.fedham import FedHam


def test_sites_are_in_the_order_of_their_first_image() -> None:
    where = np.array(["c", "a", "c", "b", "a"])
    nothing = np.zeros(5, dtype=np.int64)
    manifest = Manifest(("x",), tuple("12345"), where, np.full(5, "train"), nothing)
    assert manifest.sites == ("c", "a", "b")


@pytest.mark.parametrize("value", [None, ""])
def test_real_data_is_looked_for_beside_the_project_unless_the_variable_says_where(
    value: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FIDAL_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.delenv("FIDAL_DATA")
    if value is not None:
        monkeypatch.setenv("FIDAL_DATA", value)
    assert data_folder() == Path("../shared/data")


def test_absent_data_is_an_error_that_a_person_can_act_on(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FIDAL_DATA", str(tmp_path))
    with pytest.raises(DataAbsent, match=f"{tmp_path}.*FIDAL_DATA") as error:
        FedHam().load(tmp_path)
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("name", list(BENCHMARKS))
def test_every_benchmark_says_what_it_is_and_what_its_fields_mean(name: str) -> None:
    source = BENCHMARKS[name]
    assert source.name == name and source.__doc__
    assert all(field.description for field in source.model_fields.values())
