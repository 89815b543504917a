import csv
import io
import shutil

import numpy as np

from fidal.report.tables.formats import as_csv, as_latex, as_markdown
from tests.report.tables.test_table import TABLE

PDFLATEX = shutil.which("pdflatex")


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
