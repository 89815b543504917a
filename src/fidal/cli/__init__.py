"""The command line: `fidal --help`."""

import logging
import sys
from typing import TextIO

from fidal.cli.commands import app
from fidal.experiment.run import REFUSALS


def main() -> None:
    """Runs a command. What a person can act on is one line on stderr and exit code 2."""
    _hear()
    try:
        app()
    except REFUSALS as error:
        print("fidal:", "; ".join(str(error).splitlines()), file=sys.stderr)
        raise SystemExit(2) from error


class _Stderr(logging.StreamHandler[TextIO]):
    """Whatever stderr is at the moment: a progress bar puts itself in its place."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _hear() -> None:
    """Notes of fidal, e.g. how far an embedding is, go to stderr; those of libraries don't."""
    log = logging.getLogger("fidal")
    log.setLevel(logging.INFO)
    if not log.handlers:
        log.addHandler(_Stderr())
