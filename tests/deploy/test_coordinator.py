"""The coordinator's own part: its commands, and the rounds by any engine."""

from pathlib import Path

import pytest
from flwr.supercore.task_identity import TaskIdentity

from fidal.data.sites import site_data
from fidal.deploy.config import CoordinatorFile, Privacy, SiteFile, read_file
from fidal.deploy.coordinator import FederationRun, superlink_command
from fidal.experiment.opening import open_site, simulated_expert
from fidal.federation.inprocess import InProcess
from fidal.federation.state import State
from fidal.rows import read
from tests.deploy.made import made_coordinator, made_site
from tests.small import images


def in_process(run: FederationRun, folder: Path) -> InProcess:
    """The sites of the federation, in this process."""
    manifest = images(folder / "images")
    sites = []
    for name in ("east", "west"):
        places = made_site(folder, name, manifest)
        benchmark = read_file(places.config, SiteFile).data.load(folder / "cache")
        data = site_data(benchmark, name)
        oracle = simulated_expert(run.experiment, data)
        sites.append(open_site(run.experiment, data, oracle, places.state))
    return InProcess(sites)


@pytest.fixture
def file(tmp_path: Path) -> CoordinatorFile:
    return read_file(made_coordinator(tmp_path).config, CoordinatorFile)


def driven(file: CoordinatorFile, folder: Path) -> FederationRun:
    run = FederationRun.of(file)
    run.folder.path.mkdir(parents=True)
    run.folder.claim(run.experiment)
    run.drive(in_process(run, folder), State(), lambda *_: None)
    return run


def test_rounds_leave_rows_and_a_state_that_says_done(
    file: CoordinatorFile, tmp_path: Path
) -> None:
    run = driven(file, tmp_path)
    rows = read(run.folder.rounds)
    assert [(row["round"], row["site"]) for row in rows] == [
        (round, site) for round in (0, 1) for site in ("east", "west", "*")
    ]
    assert rows[-1]["missing"] == {} and rows[-1]["privacy"] is None
    assert rows[-1]["benchmark"] == "remote"
    assert run.folder.load_state(run.experiment).done
    assert run.folder.path == file.folder / "runs" / run.experiment.run_name


def test_epsilon_is_in_the_rows_and_grows(file: CoordinatorFile, tmp_path: Path) -> None:
    TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 1
    private = Privacy(noise=1.5, clip=1.0, delta=1e-5)
    run = driven(file.model_copy(update={"privacy": private}), tmp_path)
    first, second = (row["privacy"] for row in read(run.folder.rounds) if row["site"] == "*")
    assert isinstance(first, dict) and isinstance(second, dict)
    assert first["releases"] == 1 and second["releases"] == 2
    assert 0 < float(str(first["epsilon"])) < float(str(second["epsilon"]))
    assert (run.folder.path / "privacy.json").exists()


def test_the_superlink_listens_on_this_machine_with_tls_and_keys(file: CoordinatorFile) -> None:
    command = superlink_command(file)
    assert command[command.index("--host") + 1] == "127.0.0.1"
    assert "--insecure" not in command and "--enable-supernode-auth" in command
    assert command[command.index("--isolation") + 1] == "process"
    for option in ("--ssl-ca-certfile", "--ssl-certfile", "--ssl-keyfile"):
        assert Path(command[command.index(option) + 1]).exists()
