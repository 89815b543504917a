"""The command line: `fidal --help`."""

import sys

from fidal.cli.commands import app
from fidal.experiment.run import REFUSALS


def main() -> None:
    """Runs a command. What a person can act on is one line on stderr and exit code 2."""
    try:
        app()
    except REFUSALS as error:
        print("fidal:", "; ".join(str(error).splitlines()), file=sys.stderr)
        raise SystemExit(2) from error
