"""Telling Flower's runtime that a task is being worked on, so that it does not give it up."""

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from flwr.proto.runtime_pb2 import SendTaskHeartbeatRequest
from flwr.supercore.heartbeat import HeartbeatSender
from flwr.supercore.runtime import RuntimeHttpClient


@contextmanager
def beating(client: RuntimeHttpClient) -> Iterator[None]:
    """Meanwhile. Flower's own interrupts the whole process when a task is not known any more; here
    that shows when the task's result is handed in.
    """

    def beat() -> bool:
        try:
            client.SendTaskHeartbeat(SendTaskHeartbeatRequest())
        except httpx.HTTPError:
            return False
        return True

    sender = HeartbeatSender(beat)
    sender.start()
    try:
        yield
    finally:
        sender.stop()
