from pathlib import Path

import pytest

from fidal.experiment.config import (
    ConfigError,
    Experiment,
    make_experiment,
    read_table,
    with_settings,
)

TABLE = {"name": "x", "benchmark": "phantom", "strategy": "random"}


def test_defaults_fill_what_a_table_leaves_out() -> None:
    experiment = make_experiment(TABLE)
    assert experiment.training.optimiser.lr == 5e-4
    assert experiment.strategy.name == "random" and experiment.budget == 50


def test_what_is_written_reads_back_equal() -> None:
    experiment = make_experiment({**TABLE, "strategy": {"name": "fidal", "gate": "none"}})
    again = Experiment.model_validate_json(experiment.model_dump_json())
    assert again == experiment and again.digest == experiment.digest


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["bugdet=3"], "bugdet: unknown key; did you mean 'budget'"),
        (["training.epoch=3"], "training.epoch: unknown key; did you mean 'epochs'"),
        (["strategy.name=fidl"], "unknown strategy 'fidl'; did you mean 'fidal'"),
        (["strategy.name=fidal", "strategy.lamda_div=3"], "did you mean 'lambda_div'"),
        (["strategy.name=fidal", "strategy.gate.threshold=otso"], "did you mean 'otsu'"),
        (["benchmark.name=phantm"], "did you mean 'phantom'"),
        (["training.epochs=0"], "training.epochs: .*greater than or equal to 1"),
        (["rounds=many"], "rounds: .*integer"),
        (["seed"], "write it as key=value"),
        (["name.a=1"], "name.a: unknown|Input should be"),
    ],
)
def test_what_can_not_be_run_names_the_field_and_the_nearest_key(
    settings: list[str], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        make_experiment(with_settings(TABLE, settings))


def test_a_missing_field_is_named() -> None:
    with pytest.raises(ConfigError, match="strategy: missing"):
        make_experiment({"name": "x", "benchmark": "phantom"})


def test_settings_are_toml_values_or_words() -> None:
    table = with_settings(
        TABLE, ["seed=4", "strategy.name=fidal", "strategy.lambda_div=0.5", "strategy.gate=none"]
    )
    strategy = make_experiment(table).strategy
    assert table["seed"] == 4
    assert (strategy.lambda_div, strategy.gate) == (0.5, None)  # type: ignore[attr-defined]


def test_naming_another_part_drops_the_fields_of_the_old_one() -> None:
    table = {**TABLE, "strategy": {"name": "fidal", "lambda_div": 2}}
    assert make_experiment(with_settings(table, ["strategy.name=random"])).strategy.name == "random"


def test_settings_leave_the_table_as_it_was() -> None:
    with_settings(TABLE, ["strategy.lambda_div=1"])
    assert TABLE["strategy"] == "random"


def test_budgets_are_numbers_shares_or_per_site() -> None:
    def budget(value: object, site: str = "a") -> int:
        return make_experiment({**TABLE, "budget": value}).budget_of(site, 200)

    assert [budget(30), budget(0.1), budget({"a": 7, "b": 0.5})] == [30, 20, 7]
    assert budget({"a": 7, "b": 0.5}, "b") == 100
    with pytest.raises(ConfigError, match="no entry for site 'c'"):
        budget({"a": 7}, "c")
    with pytest.raises(ConfigError, match="must not be negative"):
        budget(-1)


def test_files_that_are_not_toml_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("a = [")
    with pytest.raises(ConfigError, match="is not TOML"):
        read_table(tmp_path / "a.toml")
    with pytest.raises(ConfigError, match="no configuration at"):
        read_table(tmp_path / "b.toml")


def test_every_experiment_that_ships_is_valid() -> None:
    from fidal.experiment.sweep import expand

    files = sorted(Path("experiments").glob("*.toml"))
    assert files
    for file in files:
        assert expand(read_table(file))
