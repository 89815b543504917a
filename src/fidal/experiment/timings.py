"""Seconds and peak memory per round, site and kind of request: what differs between two runs."""

from pathlib import Path

from pydantic import JsonValue

from fidal.federation.messages import Request
from fidal.rows import append

PHASES = {"TrainRequest": "train", "QueryRequest": "query", "EvaluateRequest": "evaluate"}


class Timings:
    """Adds up what the engine's clock tells, and appends it to a file phase by phase."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seconds: dict[tuple[str, str, int], float] = {}
        self._peak: dict[tuple[str, str, int], int] = {}

    def clock(self, site: str, request: Request, seconds: float, peak: int) -> None:
        """Hear of one request."""
        phase = PHASES.get(type(request).__name__)
        if phase is None:
            return
        key = (phase, site, getattr(request, "round", 0))
        self._seconds[key] = self._seconds.get(key, 0.0) + seconds
        self._peak[key] = max(self._peak.get(key, 0), peak)

    def flush(self) -> None:
        """Write what has been heard since the last time."""
        for (phase, site, round), seconds in self._seconds.items():
            row: dict[str, JsonValue] = {
                "phase": phase,
                "site": site,
                "round": round,
                "seconds": seconds,
                "peak_bytes": self._peak[phase, site, round],
            }
            append(self._path, row)
        self._seconds.clear()
        self._peak.clear()
