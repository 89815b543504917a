"""One set of requests on its way: sent when a site is there, sent again if it was lost."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flwr.app import Message
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid

from fidal.federation.codec import decode, encode
from fidal.federation.flower.records import to_packet, to_records
from fidal.federation.frames import WireError
from fidal.federation.messages import (
    EvaluateRequest,
    Failure,
    Reply,
    Request,
    Stamp,
    TrainReply,
    TrainRequest,
)
from fidal.federation.weights import WeightsError, check

log = logging.getLogger(__name__)

SOON: Final = 1.0
LATER: Final = 30.0
"""Seconds until the SuperLink is asked again who is there; more and more of them."""

LOST: Final = (
    ErrorCode.NODE_UNAVAILABLE,
    ErrorCode.MESSAGE_UNAVAILABLE,
    ErrorCode.REPLY_MESSAGE_UNAVAILABLE,
    ErrorCode.CLIENT_APP_CRASHED,
)
"""Flower's errors after which the same message may well come through."""

AWAY: Final = "it is not connected"

DAYS: Final = 30 * 86_400.0
"""How long Flower keeps a message: our own deadlines are shorter."""


@dataclass(frozen=True)
class _Sent:
    """A message under way."""

    site: str
    session: str
    """When the site's node went online. In its next session it knows nothing of the message."""


class Posting:
    """Sends requests and reads their replies, without waiting."""

    def __init__(self, grid: Grid, stamp: Stamp, requests: Mapping[str, Request]) -> None:
        self._grid, self._stamp, self._requests = grid, stamp, requests
        self.trouble = dict.fromkeys(requests, AWAY)
        """Why there is no reply yet."""
        self._to_send = list(requests)
        self._under_way: dict[str, _Sent] = {}
        self._next, self._wait = 0.0, SOON

    def look(self) -> dict[str, Reply]:
        """Replies that have arrived since the last look."""
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + self._wait
            self._wait = min(self._wait * 1.5, LATER)
            self._send()
        if not self._under_way:
            return {}
        replies = {}
        for message in self._grid.pull_messages(list(self._under_way)):
            sent = self._under_way.pop(message.metadata.reply_to_message_id, None)
            if sent is None:
                continue
            reply = self._read(sent.site, message)
            if isinstance(reply, Failure) and reply.trouble == "absent":
                self.trouble[sent.site] = reply.reason
                self._to_send.append(sent.site)
            else:
                replies[sent.site] = reply
        return replies

    def _send(self) -> None:
        """To sites that are online and have not got their request in this session."""
        nodes = {node.name: node for node in self._grid.get_nodes()}
        for name, sent in list(self._under_way.items()):
            node = nodes.get(sent.site)
            if node is not None and node.last_activated_at != sent.session:
                del self._under_way[name]
                self._to_send.append(sent.site)
        there = [site for site in self._to_send if site in nodes]
        if not there:
            return
        contents = {}
        messages = []
        for site in there:
            request = self._requests[site]
            if id(request) not in contents:  # equal weights travel to the SuperLink once
                contents[id(request)] = to_records(encode(request, self._stamp))
            content = contents[id(request)]
            messages.append(Message(content, nodes[site].node_id, _kind(request), ttl=DAYS))
        for name, site in zip(self._grid.push_messages(messages), there, strict=True):
            if name:
                self._under_way[name] = _Sent(site, nodes[site].last_activated_at)
                self._to_send.remove(site)
                if self.trouble[site] == AWAY:
                    self.trouble[site] = "it has not answered"

    def _read(self, site: str, message: Message) -> Reply:
        """What a site says, if it may be believed."""
        if message.has_error():
            log.info("site '%s': %s", site, message.error)
            if message.error.code in LOST:
                return Failure(site, "it was disconnected in the middle", "absent")
            return Failure(
                site, f"its connection failed, with error {message.error.code} of Flower"
            )
        request = self._requests[site]
        try:
            stamp, reply = decode(to_packet(message.content))
            if isinstance(reply, Failure):
                return Failure(site, reply.reason, reply.trouble)
            if stamp != self._stamp:
                raise WireError("it answers with another version or another experiment")
            if isinstance(reply, Request) or reply.site != site:
                raise WireError("it answers in another site's name, or with a request")
            if isinstance(reply, TrainReply) and isinstance(request, TrainRequest):
                check(reply.weights, against=request.weights.specs)
        except (WireError, WeightsError) as error:
            return Failure(site, str(error))
        return reply


def _kind(request: Request) -> str:
    if isinstance(request, TrainRequest):
        return "train"
    return "evaluate" if isinstance(request, EvaluateRequest) else "query"
