"""The ClientApp: what it imports, and what it does with what it does not understand."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.supercore.task_identity import TaskIdentity

from fidal.federation.codec import decode, encode
from fidal.federation.flower import shim
from fidal.federation.flower.records import to_packet, to_records
from fidal.federation.frames import WireError
from fidal.federation.messages import EvaluateRequest, Failure, StatusReply, StatusRequest
from tests.federation.flower.grid import Node
from tests.site import clinic
from tests.site.served import FEDERATION, STAMP, served

FOREIGN = ["torch", "torchvision", "timm", "PIL", "sklearn", "scipy", "safetensors"]
OURS = [f"fidal.{part}" for part in ("site", "data", "learning", "strategies", "storage", "rows")]


@pytest.mark.parametrize("module", ["shim", "supernode", "connect"])
def test_nothing_that_reads_images_or_models_is_imported(module: str) -> None:
    code = (
        f"import sys, fidal.federation.flower.{module};"
        f"print([n for n in {[*FOREIGN, *OURS]} if n in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]", found.stderr


def asked(records: RecordDict, node: Node) -> object:
    TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 1
    message = Message(records, dst_node_id=7, message_type="query")
    message.metadata.__dict__["_message_id"] = "m"
    reply = shim.app(message, node.context())
    return decode(to_packet(reply.content))[1]


def test_it_hands_a_request_to_the_site_and_its_reply_back(tmp_path: Path) -> None:
    with served(tmp_path / "east") as site:
        node = Node("east", site.socket, 7)
        status = asked(to_records(encode(StatusRequest(FEDERATION, 0), STAMP)), node)
        assert isinstance(status, StatusReply) and status.images == 60


def test_weights_come_through_bit_for_bit(tmp_path: Path) -> None:
    weights = clinic.fresh(clinic.make_site(tmp_path))
    packet = encode(EvaluateRequest(FEDERATION, 0, weights), STAMP)
    back = to_packet(to_records(packet))
    assert (back.head, back.seal, bytes(back.array)) == (
        packet.head,
        packet.seal,
        bytes(packet.array),
    )
    found = decode(back)[1]
    assert isinstance(found, EvaluateRequest)
    assert torch.equal(found.weights.flat, weights.flat)


HEAD = ConfigRecord({"json": b"{}", "seal": bytes(32)})
ROW = Array(np.zeros(3, dtype=np.float32))


@pytest.mark.parametrize(
    "records",
    [
        {},
        {"head": HEAD, "labels": ConfigRecord({"x": 1})},
        {"head": HEAD, "metrics": MetricRecord({"x": 1})},
        {"head": ArrayRecord({"json": ROW})},
        {"head": HEAD, "weights": ConfigRecord({"weights": 1})},
        {"head": HEAD, "weights": ArrayRecord({"weights": ROW, "images": ROW})},
        {"head": HEAD, "weights": ArrayRecord({"images": ROW})},
        {"head": HEAD, "weights": ArrayRecord({"weights": Array(np.zeros(3))})},
        {"head": HEAD, "weights": ArrayRecord({"weights": Array(np.zeros((1, 3), np.float32))})},
        {
            "head": HEAD,
            "weights": ArrayRecord({"weights": Array("float32", (3,), "pickle", b"\x80\x04")}),
        },
        {
            "head": HEAD,
            "weights": ArrayRecord({"weights": Array("float32", (3,), "numpy.ndarray", b"junk")}),
        },
    ],
)
def test_other_records_are_refused_before_they_reach_the_site(
    records: dict[str, object], tmp_path: Path
) -> None:
    with pytest.raises(WireError):
        to_packet(RecordDict(records))  # type: ignore[arg-type]
    failure = asked(RecordDict(records), Node("east", tmp_path / "nobody", 7))  # type: ignore[arg-type]
    assert isinstance(failure, Failure) and failure.trouble == "refused"


def test_a_site_that_is_not_there_is_reported_as_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shim, "HOLD", 0.05)
    monkeypatch.setattr(shim, "RETRY", 0.01)
    records = to_records(encode(StatusRequest(FEDERATION, 0), STAMP))
    failure = asked(records, Node("east", tmp_path / "nobody", 7))
    assert failure == Failure("east", "the site's process does not run", "absent")
