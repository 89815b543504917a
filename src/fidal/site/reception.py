"""Where messages from outside arrive: read strictly, logged, checked against the site's rules,
carried out one at a time; what leaves is checked, logged, and only then sent.
"""

import logging
from threading import Lock
from typing import Any, get_args

from fidal.federation.codec import decode, encode, told
from fidal.federation.frames import Packet, WireError
from fidal.federation.messages import Failure, Reply, Request, Stamp, StatusRequest, TrainReply
from fidal.federation.weights import WeightsError, check
from fidal.site.audit import Audit
from fidal.site.policy import Policy
from fidal.site.refusal import Refusal
from fidal.site.requests import carry_out
from fidal.site.site import Site
from fidal.site.switch import Switch

log = logging.getLogger(__name__)


class Reception:
    """Answers packets. Nothing that is in one can make it raise, and what went wrong is told to the
    coordinator in words of this program's own: texts of errors may hold paths and ids.
    """

    def __init__(
        self, site: Site, stamp: Stamp, policy: Policy, switch: Switch, audit: Audit
    ) -> None:
        self._site, self._stamp, self._policy = site, stamp, policy
        self._switch, self._audit = switch, audit
        self._turn = Lock()
        self._trained: tuple[bytes, Reply] | None = None
        """Seal of the last training request and its reply: a message may be delivered twice."""

    @property
    def array_limit(self) -> int:
        """Bytes of the site's own network: no message has a larger array."""
        return sum(4 * spec.size for spec in self._site.specs)

    def answer(self, packet: Packet) -> Packet:
        """A reply, or a failure, to whatever arrived."""
        try:
            stamp, message = decode(packet)
        except WireError as error:
            return self.refuse(error)
        self._audit.message("in", packet, told(message))
        if isinstance(message, StatusRequest):  # answered while others wait or train
            reply = self._tried(stamp, message, packet.seal)
        else:
            with self._turn:
                reply = self._tried(stamp, message, packet.seal)
        return self._sent(reply)

    def refuse(self, error: WireError) -> Packet:
        """The answer to bytes that are no message."""
        self._audit.note(f"refused: {error}")
        return self._sent(Failure(self._site.name, str(error), "refused"))

    def _tried(self, stamp: Stamp, message: Request | Reply, seal: bytes) -> Reply:
        try:
            return self._reply(stamp, message, seal)
        except Refusal as refusal:
            return Failure(self._site.name, str(refusal), refusal.trouble)
        except WeightsError as error:
            return Failure(self._site.name, str(error), "refused")
        except Exception as error:
            log.exception("site '%s': %s failed", self._site.name, type(message).__name__)
            reason = f"an error of the kind {type(error).__name__}; the log of the site tells more"
            return Failure(self._site.name, reason)

    def _reply(self, stamp: Stamp, message: Request | Reply, seal: bytes) -> Reply:
        if not isinstance(message, get_args(Request)):
            raise Refusal("a site takes requests, no replies")
        request: Any = message
        self._agree(stamp, request.federation)
        self._switch.check()
        self._policy.check(request)
        if getattr(request, "weights", None) is not None:
            check(request.weights, against=self._site.specs)
        if self._trained is not None and self._trained[0] == seal:
            return self._trained[1]
        reply = self._policy.reveal(request, carry_out(self._site, request))
        if isinstance(reply, TrainReply):
            self._check_trained(reply)
            self._trained = seal, reply
        return reply

    def _agree(self, theirs: Stamp, federation: str) -> None:
        ours = self._stamp
        if (theirs.wire, theirs.version) != (ours.wire, ours.version):
            raise Refusal(
                f"this site runs fidal {ours.version}, the coordinator {theirs.version}; install "
                "the same version at both ends"
            )
        if theirs.setup != ours.setup or federation != self._site.setup.federation:
            raise Refusal(
                f"this site has the experiment {ours.setup}, the coordinator {theirs.setup}; give "
                "both the same experiment file"
            )

    def _check_trained(self, reply: TrainReply) -> None:
        try:
            check(reply.weights)
        except WeightsError as error:
            raise Refusal(
                "training diverged: the weights are not finite; lower training.optimiser.lr",
                trouble="failed",
            ) from error

    def _sent(self, reply: Reply) -> Packet:
        try:
            packet = encode(reply, self._stamp)
        except WireError:
            log.exception("site '%s': a reply may not leave", self._site.name)
            reply = Failure(self._site.name, "the reply was held back: it may not leave the site")
            packet = encode(reply, self._stamp)
        self._audit.message("out", packet, told(reply))
        return packet
