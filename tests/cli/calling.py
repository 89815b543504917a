"""The command line as a person has it: in this process, or in one of its own."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fidal.cli import main

PROGRAM = [sys.executable, "-c", "from fidal.cli import main; main()"]


def toml(value: object) -> str:
    """A value as TOML writes it, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def write_config(path: Path, table: dict[str, Any]) -> Path:
    path.write_text("".join(f"{key} = {toml(value)}\n" for key, value in table.items()))
    return path


def call(*words: object) -> int:
    """The exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["fidal", *map(str, words)])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
    return 0


def start(*words: object) -> "subprocess.Popen[str]":
    command: Sequence[str] = [*PROGRAM, *map(str, words)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
