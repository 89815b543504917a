"""The engine between machines: the coordinator's requests through Flower's Grid."""

import time
from collections.abc import Mapping
from typing import Final

from flwr.serverapp import Grid

from fidal.federation.flower.pace import Pace
from fidal.federation.flower.posting import Posting
from fidal.federation.messages import Failure, Reply, Request, Stamp

LONGEST: Final = 2.0
"""Seconds between two looks for replies."""


class Flower:
    """Sites are known by the name under which their key was registered, not by what they say.

    Until the deadline a site that is offline, has paused or dies in the middle is asked again as
    soon as it is back; sites answer a repeated request as they did the first time.
    """

    def __init__(self, grid: Grid, sites: tuple[str, ...], stamp: Stamp) -> None:
        self._grid, self._sites, self._stamp = grid, sites, stamp

    @property
    def sites(self) -> tuple[str, ...]:
        """In the order of the federation's configuration."""
        return self._sites

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        """See `Engine`."""
        end = None if deadline is None else time.monotonic() + deadline
        posting = Posting(self._grid, self._stamp, requests)
        replies: dict[str, Reply] = {}
        pace = Pace()
        while True:
            arrived = posting.look()
            replies.update(arrived)
            if arrived:
                pace.again()
            left = 3600.0 if end is None else end - time.monotonic()
            if len(replies) == len(requests) or left <= 0:
                break
            pace.rest(min(LONGEST, left))
        for site in requests.keys() - replies.keys():
            reason = f"not within {deadline:g} s, {posting.trouble[site]}"
            replies[site] = Failure(site, reason, "absent")
        return {site: replies[site] for site in requests}
