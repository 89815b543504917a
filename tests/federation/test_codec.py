"""Messages over the wire: bit for bit there and back, and nothing odd in either direction."""

import json
import math
import subprocess
import sys
from dataclasses import fields, replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fidal.federation.codec import KINDS, decode, encode, told
from fidal.federation.frames import Packet, WireError, sealed
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    GateReport,
    QueryReply,
    QueryRequest,
    Reply,
    Request,
    Stamp,
    StatusReply,
    StatusRequest,
    TensorSpec,
    TrainReply,
    TrainRequest,
    Weights,
)
from fidal.federation.weights import pack
from fidal.learning.backbones import SmallConvNet

STAMP = Stamp(1, "0.1.0", "0123456789ab")
WEIGHTS = pack(SmallConvNet().state_dict())
GATE = GateReport(0.1, 1 / 3, math.inf, None, 0.9, None, 1e-300, true_recall=0.5)
MESSAGES: list[Request | Reply] = [
    TrainRequest("fed-1", 2, 0, 3, WEIGHTS),
    TrainReply("east", WEIGHTS, 17, math.nan),
    QueryRequest("fed-1", 0, 20, None),
    QueryRequest("fed-1", 1, 20, WEIGHTS, trained=False),
    QueryReply("east", 1, 90, 5, 5, 4, 1, 9, 1, 0, GATE, 0.1 + 0.2),
    QueryReply("east", 1, 90, 5, 5, 4, 1, 9, 1, 0, None, None),
    EvaluateRequest("fed-1", 1, WEIGHTS),
    EvaluateReply("east", 1, ((3, 0), (1, 2)), 0.25, math.nan),
    StatusRequest("fed-1", 4),
    StatusReply("east", 4, 600, 20, 7, 5, 2, 80, 9),
    Failure("east", "this site has paused; try (much) later: 20% > 5", "absent"),
]


def equal(a: object, b: object) -> bool:
    if isinstance(a, Weights) and isinstance(b, Weights):
        return a.specs == b.specs and torch.equal(a.flat, b.flat)
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    if hasattr(a, "__dataclass_fields__"):
        names = [f.name for f in fields(a)]  # type: ignore[arg-type]
        return type(a) is type(b) and all(equal(getattr(a, n), getattr(b, n)) for n in names)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("message", MESSAGES, ids=lambda m: type(m).__name__)
def test_every_message_comes_back_bit_for_bit(message: Request | Reply) -> None:
    packet = encode(message, STAMP)
    stamp, found = decode(packet)
    assert stamp == STAMP
    assert equal(found, message)
    assert encode(found, stamp).seal == packet.seal


def test_all_kinds_are_tested() -> None:
    assert {type(message).__name__ for message in MESSAGES} == set(KINDS)


@given(st.lists(st.floats(width=32), min_size=1, max_size=50))
@settings(max_examples=50, deadline=None)
def test_values_keep_every_bit(values: list[float]) -> None:
    flat = torch.tensor(values, dtype=torch.float32)
    weights = Weights((TensorSpec("w", (len(values),), "float32"),), flat)
    _, found = decode(encode(EvaluateRequest("f", 0, weights), STAMP))
    assert isinstance(found, EvaluateRequest)
    assert torch.equal(found.weights.flat.view(torch.int32), flat.view(torch.int32))


def test_weights_from_a_view_are_sent_as_they_are_seen() -> None:
    flat = torch.arange(10, dtype=torch.float32)[::2]
    weights = Weights((TensorSpec("w", (5,), "float32"),), flat)
    _, found = decode(encode(EvaluateRequest("f", 0, weights), STAMP))
    assert isinstance(found, EvaluateRequest) and found.weights.flat.tolist() == [0, 2, 4, 6, 8]


def test_what_forwards_messages_needs_no_torch() -> None:
    code = (
        "import sys, fidal.federation.codec as c, fidal.federation.messages as m;"
        "c.encode(m.Failure('a', 'it is down', 'absent'), m.Stamp(1, '0.1.0', 'ab'));"
        "print([n for n in ('torch', 'numpy', 'PIL', 'pydantic') if n in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]", found.stderr


# What may not be sent


@pytest.mark.parametrize(
    "message",
    [
        Failure("east", "no file /data/patients/123.png"),
        Failure("east", "C:\\scans\\123"),
        Failure("east", "x" * 301),
        Failure("east", "two\nlines"),
        Failure("../east", "no"),
        StatusRequest("fed/../..", 0),
        Failure("east", "no", "because"),  # type: ignore[arg-type]
        StatusRequest("f", True),
        StatusRequest("f", 2**60),
        EvaluateRequest("f", 0, Weights((TensorSpec("w/x", (1,), "float32"),), torch.zeros(1))),
        EvaluateReply("east", 0, ((0.5,),), 0.0, 0.0),  # type: ignore[arg-type]
    ],
)
def test_what_may_not_cross_the_wire_is_not_encoded(message: Request | Reply) -> None:
    with pytest.raises(WireError):
        encode(message, STAMP)


# What others may send


def head_of(message: Request | Reply) -> dict[str, Any]:
    head: dict[str, Any] = json.loads(encode(message, STAMP).head)
    return head


def altered(path: str, value: object, message: Request | Reply = MESSAGES[0]) -> Packet:
    """The packet of a message with one entry of its head replaced, or added."""
    packet, head = encode(message, STAMP), head_of(message)
    *way, last = path.split(".")
    place: Any = head
    for step in way:
        place = place[int(step)] if step.isdecimal() else place[step]
    place[int(last) if last.isdecimal() else last] = value
    return sealed(json.dumps(head).encode(), packet.array)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("kind", "Site"),
        ("kind", "__class__"),
        ("kind", ["TrainRequest"]),
        ("more", 1),
        ("stamp.wire", "1"),
        ("stamp.version", None),
        ("stamp.setup", "../../etc/passwd"),
        ("fields.more", 1),
        ("fields.round", -1.5),
        ("fields.round", True),
        ("fields.round", "0"),
        ("fields.round", 10**30),
        ("fields.federation", 7),
        ("fields.federation", "/etc/passwd"),
        ("fields.federation", "a\u0000b"),
        ("fields.federation", "x" * 5000),
        ("fields.weights", None),
        ("fields.weights", []),
        ("fields.weights.flat", 3),
        ("fields.weights.flat", -1),
        ("fields.weights.flat", None),
        ("fields.weights.specs", [1] * 20_001),
        ("fields.weights.specs.0.name", "a/b"),
        ("fields.weights.specs.0.name", "a..b"),
        ("fields.weights.specs.0.shape", [0.5]),
        ("fields.weights.specs.0.dtype", {"$": 1}),
        ("fields.weights.specs.0.more", 1),
    ],
)
def test_an_odd_head_is_refused_and_not_repeated(path: str, value: object) -> None:
    with pytest.raises(WireError) as refused:
        decode(altered(path, value))
    if isinstance(value, str):
        assert value not in str(refused.value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[]",
        b"[" * 100_000,
        b'{"stamp": {}, "stamp": {}, "kind": "a", "fields": {}}',
        b'{"stamp": NaN, "kind": "Failure", "fields": {}}',
        b'{"stamp": ' + b"9" * 5000 + b', "kind": "Failure", "fields": {}}',
        b"\x80\x04\x95\x0e\x00\x00\x00",  # how a pickle begins
    ],
)
def test_a_head_that_is_no_json_object_is_refused(head: bytes) -> None:
    with pytest.raises(WireError):
        decode(sealed(head))


def test_infinite_numbers_are_words_and_no_others_are_taken() -> None:
    reply = EvaluateReply("east", 1, ((1,),), 0.5, 0.5)
    assert equal(decode(altered("fields.loss", "inf", reply))[1], replace(reply, loss=math.inf))
    for odd in ("Infinity", "1.0", [], 10**400, "nan "):
        with pytest.raises(WireError):
            decode(altered("fields.loss", odd, reply))
    huge = json.dumps(head_of(reply)).replace('"loss": 0.5', '"loss": 1e999')
    with pytest.raises(WireError):
        decode(sealed(huge.encode()))


def test_an_array_that_no_field_is_for_is_refused() -> None:
    packet = encode(MESSAGES[2], STAMP)
    with pytest.raises(WireError, match="comes with an array that it has no field for"):
        decode(sealed(packet.head, b"\0\0\0\0"))


@pytest.mark.parametrize("part", ["head", "array"])
def test_one_changed_bit_is_found(part: str) -> None:
    packet = encode(MESSAGES[0], STAMP)
    content = bytearray(getattr(packet, part))
    content[len(content) // 2] ^= 1
    with pytest.raises(WireError, match="checksum"):
        decode(replace(packet, **{part: bytes(content)}))


@given(st.binary(max_size=300))
@settings(max_examples=200, deadline=None)
def test_random_bytes_are_refused(head: bytes) -> None:
    with pytest.raises(WireError):
        decode(sealed(head))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(st.sampled_from(sorted(KINDS)), JSON, JSON)
@settings(max_examples=200, deadline=None)
def test_random_fields_are_refused_or_make_a_whole_message(
    kind: str, stamp: object, content: object
) -> None:
    head = json.dumps({"stamp": stamp, "kind": kind, "fields": content}).encode()
    with pytest.raises(WireError):
        decode(sealed(head))


def test_a_log_is_told_everything_but_the_values_of_weights() -> None:
    said = told(MESSAGES[0])
    assert said["kind"] == "TrainRequest" and said["fields"]["round"] == 2
    assert said["fields"]["weights"] == {
        "tensors": len(WEIGHTS.specs),
        "values": len(WEIGHTS.flat),
    }
    assert told(MESSAGES[7])["fields"]["confusion"] == [[3, 0], [1, 2]]
