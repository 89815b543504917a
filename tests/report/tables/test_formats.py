import csv
import io
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.tables import tables_across, tables_of, tables_of_sweep
from fidal.report.tables.formats import as_csv, as_latex, as_markdown
from fidal.report.tables.table import Column, Line, Table
from fidal.report.variations import Variation
from tests.report.tables.test_table import TABLE


def every_table(study: Study) -> list[Table]:
    """With the paper's numbers beside ours, and signs of all kinds in names."""
    theirs = replace(study, benchmark="fedisic", name="fedisic (a_b=50 % & ~ ^ # $ {x})")
    line = Variation("budget", ("50", "150"), (theirs, study), "training.rounds=2")
    return [*tables_of(theirs), *tables_across([theirs, study]), *tables_of_sweep([line])]


def test_markdown() -> None:
    assert as_markdown(TABLE) == (
        "**Small & simple.** 100 % made up. [2/3]: only 2 of 3 seeds have this number.\n\n"
        "| Method | Score (%) | OOD | Gap |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| a_1 | **60.0 ± 14.1** | 30 ± 0 | −1.2 |\n"
        "| b\\|c | **60.0 ± 0.0** | **10 [1/2]** | 0.0 |\n"
        "| c | <u>40.0 ± 0.0</u> | <u>20 ± 0</u> | – |\n"
    )


def test_csv_holds_numbers_and_keeps_missing_seeds() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(TABLE))))
    assert [float(row["Score (%)"]) for row in rows] == [60.0, 60.04, 40.0]
    assert float(rows[0]["Score (%): std"]) == float(f"{100 * np.std([0.5, 0.7], ddof=1):.6g}")
    assert [row["OOD: seeds"] for row in rows] == ["2", "1", "2"]
    assert rows[1]["OOD: std"] == "" and rows[2]["Gap"] == ""
    assert rows[0]["Gap"] == "-1.25"


def test_latex_escapes_and_marks() -> None:
    text = as_latex(TABLE)
    assert r"\caption{\textbf{Small \& simple.} 100 \% made up." in text
    assert r"a\_1 & \textbf{60.0 $\pm$ 14.1} & 30 $\pm$ 0 & $-$1.2 \\" in text
    assert r"\underline{40.0 $\pm$ 0.0}" in text
    assert text.count("{") == text.count("}")
    assert r"\begin{tabular}{lrrr}" in text


def test_a_chosen_round_has_a_column_of_its_own() -> None:
    chosen = Spread(0.6, 0.1, 2, 2, round=4)
    table = Table("x", "x", "x", (Column("s", scale=100),), (Line((chosen,)), Line(("–",))))
    rows = list(csv.DictReader(io.StringIO(as_csv(table))))
    assert list(rows[0]) == ["s", "s: std", "s: seeds", "s: round"]
    assert (rows[0]["s"], rows[0]["s: round"]) == ("60", "4")
    assert list(rows[1].values()) == ["–", "", "", ""]
    assert "60.0 ± 10.0 (R4)" in as_markdown(table)


def test_every_format_of_every_table_has_as_many_cells_as_columns(study: Study) -> None:
    for table in every_table(study):
        body = as_latex(table).split("\\midrule\n")[1].split("\n\\bottomrule")[0]
        for line in body.split("\n"):
            assert len(re.findall(r"(?<!\\)&", line)) == len(table.columns) - 1, line
            assert line.endswith(r" \\")
        lines = as_markdown(table).split("\n\n")[1].strip().split("\n")
        assert {len(re.findall(r"(?<!\\)\|", x)) for x in lines} == {len(table.columns) + 1}
        rows = list(csv.reader(io.StringIO(as_csv(table))))
        assert len({len(row) for row in rows}) == 1 and len(rows) == len(table.lines) + 1
        assert len(set(rows[0])) == len(rows[0]), table.name


@pytest.mark.latex
def test_latex_compiles(study: Study, tmp_path: Path) -> None:
    body = "\n\\clearpage\n".join(as_latex(table) for table in every_table(study))
    head = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{booktabs,graphicx}"
    text = f"{head}\n\\begin{{document}}\n{body}\n\\end{{document}}\n"
    (tmp_path / "all.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 10_000
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert "Missing character" not in log and "Overfull \\hbox" not in log
