"""The default engine: all sites in this process, one after the other. No daemon, no socket."""

import time
from collections.abc import Callable, Mapping, Sequence

from fidal.federation.memory import forget_peak, peak_bytes
from fidal.federation.messages import (
    EvaluateRequest,
    Failure,
    QueryRequest,
    Reply,
    Request,
    TrainRequest,
)
from fidal.site.site import Site

Clock = Callable[[str, Request, float, int], None]
"""Told of each request carried out: site, request, seconds, peak bytes."""


class InProcess:
    """Calls the sites' methods. A ValueError of a site is its `Failure`; other errors are bugs and
    are raised as they are, with their traceback.
    """

    def __init__(self, sites: Sequence[Site], clock: Clock | None = None) -> None:
        self._sites = {site.name: site for site in sites}
        self._clock = clock

    @property
    def sites(self) -> tuple[str, ...]:
        """In the order of the benchmark."""
        return tuple(self._sites)

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        """See `Engine`. Everything happens before this returns, so no deadline can pass."""
        return {name: self._ask(self._sites[name], request) for name, request in requests.items()}

    def _ask(self, site: Site, request: Request) -> Reply:
        forget_peak(site.device)
        start = time.perf_counter()
        try:
            reply = _carry_out(site, request)
        except ValueError as error:
            return Failure(site.name, str(error).removeprefix(f"site '{site.name}': "))
        if self._clock is not None:
            self._clock(site.name, request, time.perf_counter() - start, peak_bytes(site.device))
        return reply


def _carry_out(site: Site, request: Request) -> Reply:
    match request:
        case TrainRequest():
            return site.train(request)
        case QueryRequest():
            return site.query(request)
        case EvaluateRequest():
            return site.evaluate(request)
    return site.status()
