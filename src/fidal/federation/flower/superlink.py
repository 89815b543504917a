"""The coordinator at its SuperLink: who may take part, and being the ServerApp of a run.

The SuperLink runs in "process" isolation: it starts no program, and whoever begins a run has to
carry it out. So nobody who reaches it can make it, or a site, run code.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Final

import httpx
from flwr.app import Context
from flwr.common.constant import Status, SubStatus
from flwr.common.serde import context_from_proto, fab_to_proto, run_from_proto
from flwr.proto.control_pb2 import (
    ListNodesRequest,
    ListRunsRequest,
    RegisterNodeRequest,
    StartRunRequest,
    StopRunRequest,
    UnregisterNodeRequest,
)
from flwr.proto.runtime_pb2 import (
    AcquireTaskRequest,
    PullTaskInputRequest,
    PushTaskOutputRequest,
)
from flwr.serverapp import Grid, ServerApp
from flwr.supercore.constant import TaskType
from flwr.supercore.control import ControlHttpClient
from flwr.supercore.fab import Fab
from flwr.supercore.interceptors import (
    RuntimeVersionHttpInterceptor,
    SuperExecAuthHttpInterceptor,
)
from flwr.supercore.runtime import RuntimeHttpClient
from flwr.supercore.task_identity import TaskIdentity
from flwr.superlink.grid import HttpGrid

from fidal.federation.engine import FederationError
from fidal.federation.flower.heartbeat import beating

ACQUIRE: Final = "/flwr.proto.Runtime/AcquireTask"
MANIFEST: Final = """\
[project]
name = "fidal"
version = "{version}"
license = {{ text = "Apache-2.0" }}
[tool.flwr.app]
publisher = "fidal"
fab-format-version = 0
[tool.flwr.app.components]
serverapp = "fidal.federation.flower:none"
clientapp = "fidal.federation.flower.shim:app"
"""


@dataclass(frozen=True)
class Link:
    """Where the SuperLink is, how it is known, and the secret that lets us carry out its runs."""

    address: str
    ca: bytes
    secret: bytes


def register(link: Link, keys: Mapping[str, bytes]) -> None:
    """Let exactly these sites in, by their public keys (PEM); a site that was let in before under
    another key, or is not among them any more, is shut out.
    """
    with _reached(link), closing(_control(link)) as control:
        known = {}
        for node in control.ListNodes(ListNodesRequest()).nodes_info:
            if keys.get(node.name) == node.public_key:
                known[node.name] = node
            elif node.status != "unregistered":
                control.UnregisterNode(UnregisterNodeRequest(node_id=node.node_id))
        for site in keys.keys() - known.keys():
            control.RegisterNode(RegisterNodeRequest(public_key=keys[site], name=site))


def online(link: Link) -> dict[str, str]:
    """What the SuperLink says of each site that was let in: registered, online, offline."""
    with _reached(link), closing(_control(link)) as control:
        nodes = control.ListNodes(ListNodesRequest()).nodes_info
    return {node.name: node.status for node in nodes if node.status != "unregistered"}


def serve(link: Link, main: Callable[[Grid], None]) -> None:
    """Begin a run and be its ServerApp, whose main function is `main`, until that returns."""
    app = ServerApp()

    @app.main()
    def _(grid: Grid, context: Context) -> None:
        main(grid)

    with _reached(link):
        with closing(_control(link)) as control:
            _stop_older(control)
            run = control.StartRun(StartRunRequest(fab=fab_to_proto(_bundle()))).run_id
        token = _acquire(link, run)
    with _reached(link), _grid(link, token) as (grid, context):
        app(grid, context)


@contextmanager
def _grid(link: Link, token: str) -> Iterator[tuple[HttpGrid, Context]]:
    """The run's messages. However it ends, the SuperLink hears of it."""
    with closing(HttpGrid(link.address, False, link.ca, token=token)) as grid:
        client = grid._runtime_client
        status = SubStatus.FAILED
        with beating(client):
            try:
                given = client.PullTaskInput(PullTaskInputRequest())
                grid.set_run(run_from_proto(given.run))
                TaskIdentity.task_id, TaskIdentity.run_id = given.task_id, given.run.run_id
                TaskIdentity.node_id = given.context.node_id
                yield grid, context_from_proto(given.context)
                status = SubStatus.COMPLETED
            finally:
                grid._retry_invoker.max_tries = 1
                with suppress(httpx.HTTPError):  # then it finds out by the heartbeat
                    client.PushTaskOutput(PushTaskOutputRequest(sub_status=status))


def _acquire(link: Link, run: int) -> str:
    """The token that makes this process the ServerApp of our run."""
    asking = RuntimeHttpClient.from_server_address(
        link.address,
        False,
        link.ca,
        [
            RuntimeVersionHttpInterceptor(component_name="SuperExec"),
            SuperExecAuthHttpInterceptor(master_secret=link.secret, protected_methods={ACQUIRE}),
        ],
    )
    with closing(asking):
        work = asking.AcquireTask(AcquireTaskRequest(supported_task_types=[TaskType.SERVER_APP]))
    if not work.token or work.task.run_id != run:
        raise FederationError(
            f"the SuperLink at {link.address} has another run than ours to carry out; start it "
            "with `fidal federation superlink`, and begin runs with nothing else"
        )
    return work.token


def _stop_older(control: ControlHttpClient) -> None:
    """What a killed coordinator left: sites would carry out its requests before ours."""
    for run_id, run in control.ListRuns(ListRunsRequest()).run_dict.items():
        if run.status.status != Status.FINISHED:
            control.StopRun(StopRunRequest(run_id=run_id))


def _bundle() -> Fab:
    """Flower wants a program for every run. Ours is a name: both ends have it installed."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        text = MANIFEST.format(version=version("fidal"))
        archive.writestr(zipfile.ZipInfo("pyproject.toml"), text)
    bundle = content.getvalue()
    return Fab(hashlib.sha256(bundle).hexdigest(), bundle, {})


def _control(link: Link) -> ControlHttpClient:
    interceptors: list[Any] = [RuntimeVersionHttpInterceptor(component_name="flwr CLI")]
    return ControlHttpClient.from_server_address(link.address, False, link.ca, interceptors)


@contextmanager
def _reached(link: Link) -> Iterator[None]:
    """Turns what goes wrong on the way to the SuperLink into one sentence."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        raise FederationError(
            f"the SuperLink at {link.address} refused: {error.response.text[:200]}"
        ) from error
    except httpx.HTTPError as error:
        raise FederationError(
            f"no SuperLink at {link.address} ({error}); start it with `fidal federation superlink`"
        ) from error
