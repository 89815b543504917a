"""docs/sweeps.md: its example is the sweep it says; its options and files are those there are."""

import re
import tomllib

from fidal.experiment.config import with_settings
from fidal.experiment.sweep import expand
from fidal.experiment.sweep.calling import Calling
from tests.docs.blocks import ROOT, blocks

DOCUMENT = "docs/sweeps.md"


def test_the_example_has_as_many_runs_as_it_says() -> None:
    (example,) = blocks(DOCUMENT, "toml")
    table = tomllib.loads(example)
    text = (ROOT / DOCUMENT).read_text("utf-8")
    said = re.search(r"(\d+) strategies x (\d+) seeds x (\d+) .* x (\d+) pairs = (\d+) runs", text)
    assert said is not None
    *factors, product = map(int, said.groups())
    sweep = table["sweep"]
    (together,) = sweep["together"]
    assert factors == [
        len(sweep["strategy"]),
        len(sweep["seed"]),
        len(sweep["training.rounds"]),
        len(together["budget"]),
    ]
    runs = expand(table)
    assert len(runs) == product
    assert {(run.budget, run.rounds) for run in runs} == {(10, 9), (25, 5), (50, 3)}
    assert len(expand(with_settings(table, ["seed=0"]))) * 3 == product


def test_options_are_described_by_their_own_fields() -> None:
    lines = (ROOT / DOCUMENT).read_text("utf-8").splitlines()
    for name, field in Calling.model_fields.items():
        assert f"| `--{name}` | {field.description} |" in lines


def test_every_experiment_is_listed_and_every_listed_one_is_there() -> None:
    text = (ROOT / DOCUMENT).read_text("utf-8")
    listed = set(re.findall(r"`([\w*]+\.toml)`", text))
    files = {path for name in listed for path in (ROOT / "experiments").glob(name)}
    assert all(list((ROOT / "experiments").glob(name)) for name in listed)
    assert files == set((ROOT / "experiments").glob("*.toml"))
