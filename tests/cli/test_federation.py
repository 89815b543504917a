"""`fidal federation` as far as no SuperLink is needed."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from fidal.cli.commands import app
from fidal.cli.federation import progress
from fidal.deploy.config import CoordinatorFile, read_file
from fidal.federation.engine import FederationError
from tests.deploy.made import experiment, made_site


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return str(result.output)


def test_init_and_admit(tmp_path: Path) -> None:
    words = ("--sites", "east, west", "--names", "fidal.example.org")
    folder = tmp_path / "c"
    said = run("federation", "init", folder, "--experiment", experiment(tmp_path), *words)
    assert f"{folder / 'tls' / 'ca.pem'} and" in said
    file = read_file(folder / "coordinator.toml", CoordinatorFile)
    assert (file.sites, file.names) == (("east", "west"), ("fidal.example.org",))
    site = made_site(tmp_path)
    assert "site 'east' is admitted" in run(
        "federation", "admit", folder / "coordinator.toml", "east", site.public_key
    )


def test_without_a_superlink_a_run_says_how_to_start_one(tmp_path: Path) -> None:
    made_site(tmp_path)
    config = tmp_path / "c" / "coordinator.toml"
    config.write_text(config.read_text().replace("port = 8000", "port = 1"))
    with pytest.raises(FederationError, match=r"no SuperLink at .*federation superlink"):
        run("federation", "run", config)


def test_progress_is_a_line_per_phase_and_per_change_of_answers() -> None:
    lines: list[str] = []
    told = progress(lines.append)
    for step in range(3):
        told("train", 0, step, 3)
    for answered in (0, 0, 4):
        told("answer", 1, answered, 9)
    assert lines == ["round 0: train", "round 1: answer 0 of 9", "round 1: answer 4 of 9"]
