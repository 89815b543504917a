"""What the README shows does what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fidal.experiment.config import read_table
from fidal.experiment.sweep import expand
from tests.docs.blocks import ROOT, blocks


def test_every_page_that_it_names_is_there() -> None:
    pages = re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(pages) > 8
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_the_example_runs_and_prints_a_line_per_round_and_site(tmp_path: Path) -> None:
    (code,) = blocks("README.md", "python")
    assert len([line for line in code.splitlines() if line]) <= 13
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 3 * 5
    assert {line[1] for line in lines} == {"harbour", "meadow", "summit", "valley", "*"}
    labelled, outliers = int(lines[-1][2]), int(lines[-1][3])
    assert labelled + outliers == 4 * 3 * 15


@pytest.mark.parametrize("command", blocks("README.md", "sh")[1].splitlines())
def test_commands(command: str) -> None:
    program = Path(sys.executable).with_name(command.split()[0])
    done = subprocess.run(
        [program, *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) > 5


def test_the_two_commands_are_targets_that_install_first() -> None:
    for command in blocks("README.md", "sh")[0].splitlines():
        _, target = command.split()
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_table_names_the_strategies_of_its_sweep() -> None:
    sweep = expand(read_table(ROOT / "experiments/fedham_probe.toml"))
    table = re.findall(r"^\| \**([\w-]+)[^|]*\|[^|]*±", (ROOT / "README.md").read_text(), re.M)
    assert sorted(table) == sorted({one.strategy.name for one in sweep})
