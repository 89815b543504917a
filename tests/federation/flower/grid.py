"""Flower's Grid without Flower's runtime: the shim is called in a thread per message."""

import threading
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flwr.app import Context, Error, Message, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fidal.federation.flower.shim import app


@dataclass
class Node:
    """A site's SuperNode. `handle` may be replaced to make it misbehave."""

    site: str
    socket: Path
    node_id: int
    last_activated_at: str = "monday"
    handle: Callable[[Message, Context], Message] = app

    @property
    def name(self) -> str:
        return self.site

    def context(self) -> Context:
        config: Any = {"site": self.site, "socket": str(self.socket)}
        return Context(1, self.node_id, config, RecordDict(), {})


@dataclass
class LocalGrid:
    """What `Posting` uses of a Grid."""

    nodes: list[Node]
    pushed: list[tuple[str, str]] = field(default_factory=list)
    """Site and kind of each message."""
    _replies: dict[str, Message] = field(default_factory=dict)

    def __post_init__(self) -> None:
        TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 1

    def get_nodes(self) -> list[Node]:
        return [replace(node) for node in self.nodes]

    def push_messages(self, messages: Iterable[Message]) -> list[str]:
        ids = []
        for message in messages:
            name = uuid.uuid4().hex
            message.metadata.__dict__["_message_id"] = name
            (node,) = [n for n in self.nodes if n.node_id == message.metadata.dst_node_id]
            self.pushed.append((node.site, message.metadata.message_type))
            threading.Thread(target=self._run, args=(node, message, name), daemon=True).start()
            ids.append(name)
        return ids

    def pull_messages(self, ids: Iterable[str]) -> list[Message]:
        return [self._replies.pop(name) for name in list(ids) if name in self._replies]

    def _run(self, node: Node, message: Message, name: str) -> None:
        try:
            self._replies[name] = node.handle(message, node.context())
        except Lost:
            pass
        except Broken as broken:
            self._replies[name] = Message(Error(broken.code, "of Flower"), reply_to=message)


class Broken(Exception):  # noqa: N818
    """Flower reports an error in place of a reply."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class Lost(Exception):  # noqa: N818
    """The node dies with the message: no reply, no error."""
