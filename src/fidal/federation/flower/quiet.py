"""Flower's reports to its makers and its search for updates are off in every process of ours."""

import logging
import os
from pathlib import Path
from typing import Final

OFF: Final = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}


def silence(home: Path) -> None:
    """For this process and its children; before flwr is imported. Its own files go to `home`."""
    os.environ.update(OFF)
    os.environ["FLWR_HOME"] = str(home.absolute())
    logging.getLogger("flwr").propagate = False  # it prints itself what is worth it
