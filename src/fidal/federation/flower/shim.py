"""The ClientApp: hands requests to the site's own process and returns its replies.

It runs beside Flower's SuperNode, where no image, no label and no model is: it imports neither
torch nor anything that reads a clinic's data, and does not look into what it carries.
"""

import logging
import time
from importlib.metadata import version
from pathlib import Path
from typing import Final

from flwr.app import Context, Message
from flwr.clientapp import ClientApp

from fidal.federation.codec import WIRE, encode
from fidal.federation.flower.records import to_packet, to_records
from fidal.federation.frames import Packet, WireError, exchange
from fidal.federation.messages import Failure, Stamp, Trouble

log = logging.getLogger(__name__)

HOLD: Final = 10.0
"""Seconds in which a site's process may come back before its absence is reported."""

RETRY: Final = 0.25

app = ClientApp()


@app.train()
@app.evaluate()
@app.query()
def forward(message: Message, context: Context) -> Message:
    """One request of the coordinator, and the site's reply to it."""
    site, socket = str(context.node_config["site"]), Path(str(context.node_config["socket"]))
    try:
        reply = _asked(socket, to_packet(message.content), site)
    except WireError as error:
        reply = _failure(site, str(error), "refused")
    return Message(to_records(reply), reply_to=message)


def _asked(socket: Path, packet: Packet, site: str) -> Packet:
    """A site that is killed meanwhile is asked again when it is back: requests may be repeated."""
    end = time.monotonic() + HOLD
    while True:
        try:
            return exchange(socket, packet)
        except (OSError, WireError) as error:
            log.warning("the site's process does not answer: %s", error)
        if time.monotonic() > end:
            return _failure(site, "the site's process does not run", "absent")
        time.sleep(RETRY)


def _failure(site: str, reason: str, trouble: Trouble) -> Packet:
    return encode(Failure(site, reason, trouble), Stamp(WIRE, version("fidal"), "unknown"))
