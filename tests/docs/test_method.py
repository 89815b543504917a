"""The table of choices is held against what the presets are."""

import re

from fidal.gates import DENSITIES, THRESHOLDS, Gate
from fidal.strategies.fidal import Fidal
from fidal.strategies.fidal_paper import FidalPaper
from tests.docs.blocks import ROOT, first_column


def _rows() -> dict[str, tuple[str, str]]:
    """Option -> what the table says that the paper and the recommended preset have."""
    text = (ROOT / "docs/method.md").read_text("utf-8")
    found = re.findall(r"^\|[^|]*\| `([\w.]+)` \|([^|]*)\|([^|]*)\|", text, re.MULTILINE)
    return {option: (paper.strip(), ours.strip()) for option, paper, ours in found}


def test_presets_are_what_the_table_says() -> None:
    rows = _rows()
    for column, preset in ((0, FidalPaper()), (1, Fidal())):
        for option in ("epistemic", "support", "activation", "batch"):
            assert rows[option][column].startswith(f"`{getattr(preset, option)}`"), option
        for option in ("lambda_div", "lambda_ood"):
            assert float(rows[option][column]) == getattr(preset, option), option
        assert isinstance(preset.gate, Gate)
        for option in ("density", "threshold"):
            part = getattr(preset.gate, option)
            assert rows[f"gate.{option}"][column].startswith(f"`{part.name}`"), option
        assert rows["coverage_weight"][column] == ("yes" if preset.coverage_weight else "no")
        assert rows["gate.normalise"][column] == ("yes" if preset.gate.normalise else "no")


def test_every_field_of_the_strategy_is_in_the_table() -> None:
    options = {option.split(".")[0] for option in _rows()}
    assert set(Fidal.model_fields) - {"objective"} == options


def test_gates_are_listed() -> None:
    assert {*DENSITIES, *THRESHOLDS} <= set(first_column("docs/method.md"))
