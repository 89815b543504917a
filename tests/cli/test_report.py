from pathlib import Path

from typer.testing import CliRunner

from fidal.cli.commands import app
from tests.report.made import make_run


def test_the_page_s_path_is_printed_and_its_options_reach_it(tmp_path: Path) -> None:
    make_run(tmp_path / "runs", "fidal", sites=("north",), rounds=2)
    out = tmp_path / "out"
    command = ["report", str(tmp_path / "runs"), "--out", str(out), "--cache", str(tmp_path)]
    done = CliRunner().invoke(app, [*command, "--title", "Ours", "--seconds", "30"])
    assert done.exit_code == 0, done.output
    assert done.output.strip() == str((out / "report.html").resolve())
    text = (out / "report.html").read_text()
    assert "<h1>Ours</h1>" in text and "at 30 s an image" in text
    assert "59 s" not in text


def test_a_map_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    command = ["report", str(tmp_path), "--out", str(tmp_path / "out"), "--map", "tsne"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2 and "tsne" in done.output
