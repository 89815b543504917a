"""`fidal list encoders` shows what to know before fetching weights."""

import json

from typer.testing import CliRunner

from fidal.cli.commands import app
from fidal.cli.listing import CARD
from fidal.encoders import ENCODERS


def listed(*words: str) -> str:
    result = CliRunner().invoke(app, ["list", "encoders", *words])
    assert result.exit_code == 0
    return result.stdout


def test_every_model_of_every_encoder_has_a_row() -> None:
    header, *rows = (line.split("\t") for line in listed().splitlines())
    assert header == ["name", "model", *CARD, "fields"]
    assert {(row[0], row[1]) for row in rows} == {
        (name, model or "-") for name, part in ENCODERS.items() for model in part.cards
    }
    for row in rows:
        assert len(row) == len(header) and all(row)
    by_model = {(row[0], row[1]): row for row in rows}
    assert by_model["panderm", "large"][2:7] == [
        "1024",
        "224 of 256 (bilinear)",
        "0.485 0.456 0.406",
        "0.228 0.224 0.225",
        "CC BY-NC-ND 4.0",
    ]
    assert "CHIEF_CTransPath.pth" in by_model["chief", "-"][7]
    assert "checkpoint" in by_model["mammo-clip", "b2"][8]


def test_json_has_the_same() -> None:
    entries = {entry["name"]: entry for entry in json.loads(listed("--json"))}
    assert entries.keys() == ENCODERS.keys()
    assert entries["mammo-clip"]["models"]["b5"]["dimension"] == "2048"
    assert entries["biomedclip"]["models"][""]["licence"] == "MIT"
