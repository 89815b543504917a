"""What carries requests to sites: the coordinator knows no more of the world than this."""

from collections.abc import Mapping
from typing import Protocol

from fidal.federation.messages import Reply, Request


class Engine(Protocol):
    """In process, or between machines; the same requests and replies."""

    @property
    def sites(self) -> tuple[str, ...]:
        """The names of the federation's sites."""

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        """One request per named site; a reply, or a `Failure`, from each. `deadline` in seconds."""


class FederationError(RuntimeError):
    """A round can't go on; the message says at which site and why."""
