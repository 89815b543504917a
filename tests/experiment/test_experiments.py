"""The files of experiments/ against the paper's settings (Section 4.2, Supplement S2, Table 1)."""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from fidal.experiment.config import Experiment, read_table
from fidal.experiment.sweep import expand

FOLDER = Path(__file__).parents[2] / "experiments"
FILES = sorted(path.name for path in FOLDER.glob("*.toml"))
NAMES = ("fedisic", "fedcamelyon", "fedembed")
SEEDS = [0, 1, 42]
RIVALS = ["random", "entropy", "badge", "feal", "pal", "lfosa", "eoal", "openpath"]

PAPER = {
    "fedisic": (5, 100, "efficientnet_b0", 5e-4, 5e-4, "panderm", (0.5, 0.5)),
    "fedcamelyon": (10, 100, "densenet121", 5e-4, 1e-4, "chief", (1.0, 1.0)),
    "fedembed": (10, 50, "linear", 3e-4, 5e-4, "mammo-clip", (0.5, 5.0)),
}
"""R, E, network, learning rate, weight decay, encoder, (lambda_div, lambda_ood)."""


@cache
def runs(file: str) -> list[Experiment]:
    return expand(read_table(FOLDER / file))


@pytest.mark.parametrize("file", FILES)
def test_every_file_is_valid_and_its_runs_differ(file: str) -> None:
    names = [run.run_name for run in runs(file)]
    assert names and len(set(names)) == len(names)


def test_there_is_a_file_for_each_table() -> None:
    tables = {f"table1_{name}{end}.toml" for name in NAMES for end in ("", "_supervised")}
    sweeps = {
        f"s{number}_{name}_{what}.toml"
        for number, name in enumerate(NAMES, start=3)
        for what in ("budget", "epochs")
    }
    assert tables | sweeps | {"fedham_probe.toml"} <= set(FILES)


@pytest.mark.parametrize("name", NAMES)
def test_table_1_has_the_papers_settings(name: str) -> None:
    rounds, epochs, network, lr, decay, encoder, _ = PAPER[name]
    for run in runs(f"table1_{name}.toml"):
        assert (run.rounds, run.budget, run.candidates) == (rounds, 500, 10_000)
        assert (run.training.rounds, run.training.epochs) == (epochs, 1)
        assert (run.training.batch_size, run.training.reinitialise) == (32, True)
        optimiser = run.training.optimiser
        assert (optimiser.kind, optimiser.lr, optimiser.weight_decay) == ("adamw", lr, decay)
        assert optimiser.step is None
        assert run.network.kind == network
        assert run.network.pretrained == (network != "linear")
        source = run.benchmark.model_dump()
        assert source["name"] == name
        assert source["encoder"]["name"] == encoder
        assert source["prompts"]["sentences"] == name
        assert source["view"] == ("embeddings" if network == "linear" else "images")


@pytest.mark.parametrize("name", NAMES)
def test_table_1_has_every_strategy_with_three_seeds(name: str) -> None:
    made = Counter((run.strategy.name, run.seed) for run in runs(f"table1_{name}.toml"))
    strategies = ["fidal", "fidal-paper", *RIVALS]
    assert made == {(strategy, seed): 1 for strategy in strategies for seed in SEEDS}


@pytest.mark.parametrize("name", NAMES)
def test_fidal_as_printed_has_the_papers_lambdas(name: str) -> None:
    for file in (f for f in FILES if f"_{name}" in f):
        for run in runs(file):
            strategy = run.strategy.model_dump()
            if strategy["name"] == "fidal-paper":
                assert (strategy["lambda_div"], strategy["lambda_ood"]) == PAPER[name][-1]


@pytest.mark.parametrize(("number", "name"), list(enumerate(NAMES, start=3)))
def test_the_sweeps_have_the_papers_cells_and_share_table_1s_runs(number: int, name: str) -> None:
    budgets, epochs = (runs(f"s{number}_{name}_{what}.toml") for what in ("budget", "epochs"))
    assert list(dict.fromkeys(run.budget for run in budgets)) == [50, 150, 300, 500]
    cells = [2, 10, 25, 50] if name == "fedembed" else [2, 10, 50, 100]
    assert list(dict.fromkeys(run.training.rounds for run in epochs)) == cells
    assert len(budgets) == len(epochs) == 4 * 10 * 3
    table = {run.run_name for run in runs(f"table1_{name}.toml")}
    assert table < {run.run_name for run in budgets}
    assert table < {run.run_name for run in epochs}


@pytest.mark.parametrize("name", NAMES)
def test_the_supervised_reference_labels_every_pool_and_trains_alike(name: str) -> None:
    supervised, first = runs(f"table1_{name}_supervised.toml"), runs(f"table1_{name}.toml")[0]
    assert [run.seed for run in supervised] == SEEDS
    for run in supervised:
        assert run.strategy.name == "random"
        assert run.budget_of("any", 198_726) >= 198_726
        assert (run.training, run.network) == (first.training, first.network)
        source, theirs = run.benchmark.model_dump(), first.benchmark.model_dump()
        assert source["prompts"] is None
        assert [source[key] for key in ("name", "root", "view")] == [
            theirs[key] for key in ("name", "root", "view")
        ]
