"""The command line: `fidal --help`."""

import sys

from fidal.cli.commands import app
from fidal.federation.engine import FederationError


def main() -> None:
    """Runs a command. What a person can act on is one line on stderr and exit code 2."""
    try:
        app()
    except (ValueError, OSError, FederationError) as error:
        print(f"fidal: {error}", file=sys.stderr)
        raise SystemExit(2) from error
