"""Flower's SuperNode with fidal's ClientApp in the same process.

Left to itself, a SuperNode looks for messages every 3 seconds, has another program look for work
every second, and that one starts a Python process per message, which takes a second of CPU, unpacks
the program that the coordinator sent and runs it. In "process" isolation, a mode of Flower's own,
the SuperNode leaves that to whoever asks its Runtime API for work. Here this is a thread that calls
our ClientApp: nothing is started per message, and no program that somebody sent is ever run.
"""

import logging
import os
import secrets
import sys
import threading
import time
import types
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import flwr.supernode.start_client_internal as flower
import httpx
from flwr.app import Error, Message
from flwr.common.constant import ErrorCode, SubStatus
from flwr.proto.runtime_pb2 import AcquireTaskRequest
from flwr.supercore.constant import TaskType
from flwr.supercore.interceptors import (
    RuntimeTokenHttpInterceptor,
    RuntimeVersionHttpInterceptor,
    SuperExecAuthHttpInterceptor,
)
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supernode.cli.flower_supernode import flower_supernode
from flwr.supernode.runtime.run_clientapp import (
    pull_task_input,
    push_message,
    push_task_output,
)

from fidal.federation.flower.heartbeat import beating
from fidal.federation.flower.pace import Pace
from fidal.federation.flower.shim import app

log = logging.getLogger(__name__)

ACQUIRE: Final = "/flwr.proto.Runtime/AcquireTask"
LONGEST: Final = 0.5
"""Seconds between two looks for work in this very process."""


@dataclass(frozen=True)
class Connection:
    """What a site's SuperNode needs to know."""

    site: str
    socket: Path
    """Of the site's process."""
    coordinator: str
    """host:port of the coordinator's SuperLink, or of the proxy before it."""
    ca: Path
    key: Path
    runtime_port: int
    """A free port of the loopback address, for the SuperNode to talk to itself."""


def run_supernode(connection: Connection, home: Path) -> None:
    """Until it is ended; exits with status 1 if the coordinator refuses it."""
    secret = secrets.token_bytes(32)
    pace = Pace()
    waiting = types.SimpleNamespace(sleep=pace.rest, time=time.time)
    vars(flower)["time"] = waiting
    address = f"127.0.0.1:{connection.runtime_port}"
    worker = threading.Thread(target=_work, args=(address, secret, pace), daemon=True)
    worker.start()
    sys.argv = ["flower-supernode", *_arguments(connection, _secret_file(home, secret))]
    flower_supernode()


def _arguments(connection: Connection, secret: Path) -> list[str]:
    config = f'site="{connection.site}" socket="{connection.socket.absolute()}"'
    return [
        *("--superlink", connection.coordinator),
        *("--root-certificates", str(connection.ca)),
        *("--auth-supernode-private-key", str(connection.key)),
        *("--isolation", "process"),
        *("--superexec-auth-secret-file", str(secret)),
        *("--host", "127.0.0.1"),
        *("--port", str(connection.runtime_port)),
        *("--node-config", config),
    ]


def _secret_file(home: Path, secret: bytes) -> Path:
    """Other users of this machine must not take the SuperNode's work from us."""
    path = home / "runtime.secret"
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secret)
    return path


def _work(address: str, secret: bytes, found: Pace) -> None:
    """Take messages from the SuperNode, one at a time, for as long as the process lives."""
    asking = RuntimeHttpClient.from_server_address(
        address,
        True,
        None,
        [
            RuntimeVersionHttpInterceptor(component_name="SuperExec"),
            SuperExecAuthHttpInterceptor(master_secret=secret, protected_methods={ACQUIRE}),
        ],
    )
    pace = Pace()
    while True:
        try:
            work = asking.AcquireTask(
                AcquireTaskRequest(supported_task_types=[TaskType.CLIENT_APP])
            )
            if work.token:
                _carry_out(address, work.token)
                pace.again()
                found.again()
        except httpx.TransportError:
            pass  # the SuperNode is starting, or ending
        except Exception:  # the next message may fare better
            log.exception("a message was lost")
        pace.rest(LONGEST)


def _carry_out(address: str, token: str) -> None:
    """One message: what Flower's own `flwr-clientapp` does in a process of its own."""
    client = RuntimeHttpClient.from_server_address(
        address,
        True,
        None,
        [
            RuntimeVersionHttpInterceptor(component_name="flwr-clientapp"),
            RuntimeTokenHttpInterceptor(token),
        ],
    )
    with closing(client), beating(client):
        message, context, _, _ = pull_task_input(client)
        try:
            reply = app(message, context)
        except Exception:
            log.exception("the shim failed")
            error = Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, "the shim failed; see its log")
            reply = Message(error, reply_to=message)
        push_message(client, reply, context)
        push_task_output(client, context, SubStatus.COMPLETED, "")
