"""Whole runs on small federations: what their rows say, twice, and cut anywhere."""

import importlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fidal.checks import ContractError
from fidal.data.manifest import read_manifest
from fidal.experiment.config import ConfigError, make_experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.records import FEDERATION
from fidal.experiment.run import REFUSALS, Run
from fidal.rows import read
from fidal.site.ledger import Ledger
from fidal.storage import StateError
from fidal.types import OUTLIER
from tests.experiment.test_kill import everything
from tests.small import COLOURS, SITES, go, images, table

Row = dict[str, Any]


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sites of 30 training images, a third of them outliers, and 12 test images each."""
    return images(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def config(manifest: Path) -> Row:
    """BADGE looks at the model and draws from the query's generator."""
    return table(manifest, strategy="badge")


@pytest.fixture(scope="module")
def folder(config: Row, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A finished run of it."""
    return go(config, tmp_path_factory.mktemp("whole") / "run")


@pytest.fixture(scope="module")
def rows(folder: RunFolder) -> list[Row]:
    return read(folder.rounds)


def worklist(folder: RunFolder, config: Row, site: str, round: int) -> tuple[str, ...]:
    name = make_experiment(config).run_name
    ledger = Ledger.open(folder.site(site) / "ledger.sqlite", federation=name, site=site)
    try:
        return ledger.worklist(round) or ()
    finally:
        ledger.close()


def test_a_run_has_a_row_for_every_round_and_site_and_one_for_the_federation(
    rows: list[Row],
) -> None:
    found = [(row["round"], row["site"]) for row in rows]
    assert found == [(r, site) for r in range(3) for site in (*SITES, FEDERATION)]
    assert all(row["classes"] == sorted(COLOURS) for row in rows)


def test_counts_are_those_of_the_images_that_were_asked(
    folder: RunFolder, config: Row, rows: list[Row]
) -> None:
    """Read off the ledgers and the manifest, apart from all that counts in a run."""
    manifest = read_manifest(Path(config["benchmark"]["manifest"]))
    truth = dict(zip(manifest.ids, manifest.label.tolist(), strict=True))
    for site in SITES:
        seen: list[str] = []
        for row in (row for row in rows if row["site"] == site):
            asked = worklist(folder, config, site, row["round"])
            foreign = sum(truth[sample] == OUTLIER for sample in asked)
            assert row["candidates"] == 30 - len(seen)
            seen += asked
            assert (row["asked"], row["answered_ood"]) == (5, foreign)
            assert row["answered_id"] == 5 - foreign
            outliers = sum(truth[sample] == OUTLIER for sample in seen)
            assert (row["labelled"], row["outliers"]) == (len(seen) - outliers, outliers)
            assert row["purity"] == pytest.approx(1 - outliers / len(seen))
        assert len(set(seen)) == 15


def test_every_test_image_is_classified_in_every_round(rows: list[Row]) -> None:
    for row in rows:
        counts = np.array(row["confusion"])
        assert counts.sum() == (24 if row["site"] == FEDERATION else 12)
        key = "accuracy_pooled" if row["site"] == FEDERATION else "accuracy"
        assert row[key] == pytest.approx(np.trace(counts) / counts.sum())
    sites = [np.array(row["confusion"]) for row in rows if row["site"] != FEDERATION]
    together = [np.array(row["confusion"]) for row in rows if row["site"] == FEDERATION]
    assert all((a + b == c).all() for a, b, c in zip(sites[::2], sites[1::2], together))  # noqa: B905


def test_the_same_configuration_gives_the_same_rows(
    config: Row, folder: RunFolder, tmp_path: Path
) -> None:
    again = go(config, tmp_path / "again")
    assert everything(config, again.path) == everything(config, folder.path)


def test_another_seed_asks_other_images(config: Row, folder: RunFolder, tmp_path: Path) -> None:
    other = {**config, "seed": 1, "rounds": 1}
    run = go(other, tmp_path / "run")
    for site in SITES:
        assert worklist(run, other, site, 0) != worklist(folder, config, site, 0)


class Stopped(Exception):  # noqa: N818
    """Not a refusal: it ends the run where it was raised."""


def test_a_run_that_is_stopped_before_and_within_every_phase_ends_as_one_that_was_not(
    config: Row, folder: RunFolder, tmp_path: Path
) -> None:
    heard: list[tuple[str, int, int]] = []

    def stop_once(phase: str, round: int, step: int, steps: int) -> None:
        assert steps == (2 if phase == "train" else 1)
        if (phase, round, step) not in heard:
            heard.append((phase, round, step))
            raise Stopped

    for _ in range(100):
        try:
            go(config, tmp_path / "run", stop_once)
            break
        except Stopped:
            continue
    phases = [("query", 0), ("train", 0), ("train", 1), ("evaluate", 0)]
    assert heard == [(phase, round, step) for round in range(3) for phase, step in phases]
    assert everything(config, tmp_path / "run") == everything(config, folder.path)


def test_a_simulated_expert_that_errs_is_heard_in_the_counts(
    config: Row, rows: list[Row], tmp_path: Path
) -> None:
    """With every answer wrong, ID images are outliers and outliers ID images."""
    wrong = read(go({**config, "rounds": 1, "oracle_error": 1.0}, tmp_path / "run").rounds)
    for right, swapped in zip(rows[:3], wrong[:3], strict=True):
        assert right["answered_id"] != right["answered_ood"]
        assert swapped["answered_id"] == right["answered_ood"]
        assert swapped["answered_ood"] == right["answered_id"]


def test_the_purity_of_random_is_the_share_of_id_in_the_pool(tmp_path: Path) -> None:
    config = table(
        images(tmp_path / "data", train=120, test=1, ood=4),
        rounds=1,
        budget=30,
        training={"rounds": 1, "batch_size": 64, "device": "cpu"},
    )
    asked = np.zeros(2)
    for seed in range(2):
        rows = read(go({**config, "seed": seed}, tmp_path / str(seed)).rounds)
        asked += rows[-1]["labelled"], rows[-1]["outliers"]
        assert [row["pool_ood_share"] for row in rows[:2]] == [0.25, 0.25]
    # 60 of 120 images, four times, without replacement: 3/4 with a standard deviation of
    # sqrt(3/4 * 1/4 / 240 * 60/119) = 2 %.
    assert asked.sum() == 240
    assert asked[0] / 240 == pytest.approx(0.75, abs=0.05)


def test_a_run_ends_when_nobody_has_an_image_left(config: Row, tmp_path: Path) -> None:
    everyone = {**config, "rounds": 5, "budget": {"east": 30, "west": 20}}
    run = go(everyone, tmp_path / "run")
    rows = read(run.rounds)
    assert [(r["round"], r["asked"]) for r in rows if r["site"] == "east"] == [(0, 30), (1, 0)]
    assert [(r["round"], r["asked"]) for r in rows if r["site"] == "west"] == [(0, 20), (1, 10)]
    assert rows[-1]["labelled"] + rows[-1]["outliers"] == 60
    assert run.load_state(make_experiment(everyone)).done


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        ("openpath", "'openpath' needs prompts, and benchmark 'folder' as configured has none"),
        ("fidal", "'fidal' needs coverage, and benchmark 'folder' as configured has none"),
    ],
)
def test_what_a_strategy_needs_is_missed_before_anything_is_asked(
    strategy: str, says: str, manifest: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=says):
        go(table(manifest, strategy=strategy), tmp_path / "run")
    left = {path.name for path in (tmp_path / "run").iterdir()}
    assert left == {".lock", "config.json", "versions.json"}


def test_training_images_without_a_label_are_refused(tmp_path: Path) -> None:
    manifest = images(tmp_path / "data")
    lines = manifest.read_text().splitlines()
    train = [i for i, line in enumerate(lines) if ",east,train,red" in line][:2]
    for i in train:
        lines[i] = lines[i].removesuffix("red")
    manifest.write_text("\n".join(lines) + "\n")
    says = "site 'east': 2 of 30 training images have no label"
    with pytest.raises(ConfigError, match=says):
        go(table(manifest), tmp_path / "run")


def test_a_ledger_that_was_lost_is_missed(config: Row, tmp_path: Path) -> None:
    def stop(phase: str, round: int, step: int, steps: int) -> None:
        if phase == "train" and round == 1:
            raise Stopped

    with pytest.raises(Stopped):
        go(config, tmp_path / "run", stop)
    (tmp_path / "run" / "sites" / "west" / "ledger.sqlite").unlink()
    with pytest.raises(StateError, match=r"site 'west': ledger .* has no round 1"):
        go(config, tmp_path / "run")


def test_the_folder_is_let_go_of_after_an_error(config: Row, tmp_path: Path) -> None:
    def stop(phase: str, round: int, step: int, steps: int) -> None:
        raise Stopped

    run = Run(make_experiment(config), RunFolder(tmp_path / "run"))
    with pytest.raises(Stopped):
        run.go(tmp_path / "cache", stop)
    with run.folder.held():
        shutil.rmtree(tmp_path / "run")


def test_a_phantom_run_shows_the_gate_at_work(tmp_path: Path) -> None:
    phantom = {"name": "phantom", "train_per_site": 30, "test_per_site": 6, "pixels": 32}
    config = {
        "name": "phantom",
        "rounds": 1,
        "budget": 12,
        "benchmark": phantom,
        "training": {"rounds": 2, "batch_size": 8, "device": "cpu", "optimiser": {"lr": 3e-3}},
        "strategy": "fidal",
    }
    run = Run(make_experiment(config), RunFolder(tmp_path / "run"))
    run.go(tmp_path / "cache")
    rows = read(run.folder.rounds)
    assert len(rows) == 2 * (4 + 1)
    first, last = rows[4], rows[-1]
    assert first["gate"] is None and last["gate"] is not None
    assert (last["asked"], last["candidates"]) == (48, 72)
    assert last["answered_id"] / 48 > 1 - last["pool_ood_share"]  # purer than random


def errors(kind: type[Exception] = Exception) -> list[type[Exception]]:
    """Every exception that the house defines."""
    found = [x for below in kind.__subclasses__() for x in (below, *errors(below))]
    return [x for x in found if x.__module__.startswith("fidal.")]


def test_every_error_of_the_house_is_one_that_a_person_can_act_on() -> None:
    """A broken contract is not: the strategy's author reads it, with its traceback."""
    importlib.import_module("fidal.cli")
    assert {ConfigError, StateError} < set(errors())
    assert {x for x in errors() if not issubclass(x, REFUSALS)} == {ContractError}


@pytest.mark.parametrize("kind", [ValueError, PermissionError, OSError, torch.OutOfMemoryError])
def test_so_are_bad_input_a_full_disk_and_too_little_memory(kind: type[Exception]) -> None:
    assert issubclass(kind, REFUSALS)


@pytest.mark.parametrize("bug", [TypeError, KeyError, IndexError, RuntimeError, AssertionError])
def test_what_only_a_programmer_can_act_on_keeps_its_traceback(bug: type[Exception]) -> None:
    assert not issubclass(bug, REFUSALS)
