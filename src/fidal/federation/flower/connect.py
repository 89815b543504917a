"""The process that connects a site to the coordinator: `fidal site connect` becomes this.

A program of its own, because the command line of fidal imports torch and all that a site is made
of, and this process must not.
"""

import argparse
import logging
from pathlib import Path

from fidal.federation.flower.quiet import silence


def main() -> None:
    """Until it is ended, or the coordinator refuses it."""
    given = _parser().parse_args()
    silence(given.home)
    logging.basicConfig(format="%(levelname)s: %(message)s")
    from fidal.federation.flower.supernode import Connection, run_supernode  # after `silence`

    connection = Connection(
        site=given.site,
        socket=given.socket,
        coordinator=given.coordinator,
        ca=given.ca,
        key=given.key,
        runtime_port=given.runtime_port,
    )
    run_supernode(connection, given.home)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fidal.federation.flower.connect", description=__doc__)
    for name, kind in (("site", str), ("coordinator", str), ("runtime-port", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    for name in ("socket", "ca", "key", "home"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser


if __name__ == "__main__":
    main()
