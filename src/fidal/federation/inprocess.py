"""The default engine: all sites in this process. No daemon, no socket.

One after the other, but for training on a GPU: there their steps take turns, see
`learning.side_by_side`.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence

import torch

from fidal.federation.memory import forget_peak, peak_bytes
from fidal.federation.messages import Failure, Reply, Request, TrainRequest
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import LocalRound
from fidal.site.refusal import Refusal
from fidal.site.requests import carry_out
from fidal.site.site import Site

Clock = Callable[[str, Request, float, int], None]
"""Told of each request carried out: site, request, seconds, peak bytes. Of the seconds in which
sites train side by side each has its share by the steps it took."""


class InProcess:
    """Calls the sites' methods. A ValueError of a site is its `Failure`; other errors are bugs and
    are raised as they are, with their traceback.
    """

    def __init__(self, sites: Sequence[Site], clock: Clock | None = None) -> None:
        self._sites = {site.name: site for site in sites}
        self._clock = clock
        use_cores()

    @property
    def sites(self) -> tuple[str, ...]:
        """In the order of the benchmark."""
        return tuple(self._sites)

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        """See `Engine`. Everything happens before this returns, so no deadline can pass."""
        together = {
            name: request
            for name, request in requests.items()
            if isinstance(request, TrainRequest) and self._sites[name].device.type == "cuda"
        }
        replies = self._train(together)
        for name, request in requests.items():
            if name not in together:
                replies[name] = self._ask(self._sites[name], request)
        return {name: replies[name] for name in requests}

    def _ask(self, site: Site, request: Request) -> Reply:
        forget_peak(site.device)
        start = time.perf_counter()
        try:
            reply = carry_out(site, request)
        except ValueError as error:
            return _failure(site.name, error)
        self._tell(site.name, request, time.perf_counter() - start)
        return reply

    def _train(self, requests: Mapping[str, TrainRequest]) -> dict[str, Reply]:
        """Begin all, advance all, finish all."""
        for name in requests:
            forget_peak(self._sites[name].device)
        start = time.perf_counter()
        replies: dict[str, Reply] = {}
        begun: dict[str, LocalRound] = {}
        for name, request in requests.items():
            try:
                begun[name] = self._sites[name].begin(request)
            except ValueError as error:
                replies[name] = _failure(name, error)
        side_by_side(list(begun.values()))
        for name, local in begun.items():
            try:
                replies[name] = self._sites[name].finish(requests[name], local)
            except ValueError as error:
                replies[name] = _failure(name, error)
        steps = max(1, sum(local.steps for local in begun.values()))
        seconds = time.perf_counter() - start
        for name, local in begun.items():
            self._tell(name, requests[name], seconds * local.steps / steps)
        return replies

    def _tell(self, name: str, request: Request, seconds: float) -> None:
        if self._clock is not None:
            self._clock(name, request, seconds, peak_bytes(self._sites[name].device))


def _failure(site: str, error: ValueError) -> Failure:
    trouble = error.trouble if isinstance(error, Refusal) else "failed"
    return Failure(site, str(error).removeprefix(f"site '{site}': "), trouble)


def use_cores() -> None:
    """As many threads as this process may use cores, unless OMP_NUM_THREADS says otherwise: torch
    counts the machine's cores, of which a container or a batch job often has a few.
    """
    if "OMP_NUM_THREADS" not in os.environ and hasattr(os, "sched_getaffinity"):
        torch.set_num_threads(len(os.sched_getaffinity(0)))
