"""The experiments of our own, on fedham and phantom: what each of them varies, and nothing else."""

from collections import Counter

import pytest
from pydantic import JsonValue

from fidal.experiment.config import Experiment
from fidal.gates import DENSITIES, THRESHOLDS
from fidal.report.labels import label_all
from fidal.strategies import STRATEGIES
from fidal.strategies.fidal import Fidal
from tests.experiment.test_experiments import runs

BENCHMARKS = ("fedham", "phantom")


def fields(run: Experiment) -> dict[str, JsonValue]:
    """The strategy's."""
    dumped: dict[str, JsonValue] = run.strategy.model_dump(mode="json")
    return dumped


@pytest.mark.parametrize("benchmark", BENCHMARKS)
@pytest.mark.parametrize("study", ["ablation", "lambdas", "budgets", "epochs", "gates"])
def test_a_study_has_three_seeds_of_everything_and_one_network(study: str, benchmark: str) -> None:
    made = runs(f"{study}_{benchmark}.toml")
    assert {run.name for run in made} == {f"{study}-{benchmark}"}
    assert {run.benchmark.name for run in made} == {benchmark}
    assert len({run.network for run in made}) == 1
    assert Counter(run.seed for run in made) == dict.fromkeys((0, 1, 2), len(made) // 3)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_ablation_takes_one_component_away_at_a_time(benchmark: str) -> None:
    own = fields(runs(f"ablation_{benchmark}.toml")[0])
    assert own == Fidal().model_dump(mode="json")
    taken = {
        tuple(key for key in own if own[key] != each[key])
        for each in map(fields, runs(f"ablation_{benchmark}.toml"))
    }
    parts = ("gate", "coverage_weight", "lambda_div", "support", "lambda_ood")
    assert taken == {(), *((part,) for part in parts)}
    for each in map(fields, runs(f"ablation_{benchmark}.toml")):
        without = {k: each[k] for k in own if own[k] != each[k]}
        assert list(without.values()) in ([], [None], [False], [0.0], ["off"])


@pytest.mark.parametrize("file", ["lambdas_fedham", "lambdas_phantom", "lambdas_fedham_paper"])
def test_the_grid_is_five_by_five_and_holds_the_adopted_pair(file: str) -> None:
    made = Counter((fields(r)["lambda_div"], fields(r)["lambda_ood"]) for r in runs(f"{file}.toml"))
    assert len(made) == 25 and set(made.values()) == {3}
    strategy = STRATEGIES[str(fields(runs(f"{file}.toml")[0])["name"])]().model_dump()
    assert (strategy["lambda_div"], strategy["lambda_ood"]) in made
    if file.endswith("paper"):
        values = {0.0, 0.5, 1.0, 2.0, 5.0}
        assert {pair[0] for pair in made} == {pair[1] for pair in made} == values


def test_budgets_and_epochs_are_the_papers_on_fedham() -> None:
    assert {run.budget for run in runs("budgets_fedham.toml")} == {50, 150, 300, 500}
    for file in ("epochs_fedham.toml", "epochs_phantom.toml"):
        assert {run.training.rounds for run in runs(file)} == {2, 10, 50, 100}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_larger_budget_comes_with_fewer_rounds(benchmark: str) -> None:
    pairs = sorted({(run.budget, run.rounds) for run in runs(f"budgets_{benchmark}.toml")})  # type: ignore[type-var]
    assert len(pairs) == 4
    assert [rounds for _, rounds in pairs] == sorted((r for _, r in pairs), reverse=True)


@pytest.mark.parametrize(("benchmark", "settings"), [("fedham", 4), ("phantom", 1)])
def test_every_gate_is_in_the_gate_study(benchmark: str, settings: int) -> None:
    made = runs(f"gates_{benchmark}.toml")
    gates = Counter()  # type: ignore[var-annotated]
    for run in made:
        gate = run.strategy.gate  # type: ignore[attr-defined]
        gates[gate.density.name, gate.threshold.name] += 1
        assert gate == type(gate)(density=gate.density, threshold=gate.threshold)
    expected = {(d, t): 3 * settings for d in DENSITIES for t in THRESHOLDS}
    assert gates == expected
    labels = set(label_all([run.benchmark.model_dump() for run in made]))
    assert len(labels) == settings


def test_the_smoke_sweep_has_all_fourteen_strategies() -> None:
    made = [run.strategy.name for run in runs("smoke.toml")]
    assert len(made) == 14 and set(made) == set(STRATEGIES) - {"fidal-paper"}
