"""Packets as Flower carries them: one array, and the head and its seal as bytes."""

from typing import Final

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from fidal.federation.frames import HEAD_LIMIT, Packet, WireError

HEAD: Final = "head"
WEIGHTS: Final = "weights"


def to_records(packet: Packet) -> RecordDict:
    """The content of a Flower message."""
    head = ConfigRecord({"json": packet.head, "seal": packet.seal})
    if not len(packet.array):
        return RecordDict({HEAD: head})
    values = np.frombuffer(packet.array, dtype="<f4")
    return RecordDict({HEAD: head, WEIGHTS: ArrayRecord({WEIGHTS: Array(values)})})


def to_packet(records: RecordDict) -> Packet:
    """The inverse; whatever else may be in a message is a `WireError`."""
    if not {HEAD} <= set(records) <= {HEAD, WEIGHTS}:
        raise WireError("the Flower message needs a head, may have weights, and nothing else")
    head = records[HEAD]
    if not isinstance(head, ConfigRecord) or set(head) != {"json", "seal"}:
        raise WireError("the head of the Flower message needs json and seal")
    text, seal = head["json"], head["seal"]
    if not isinstance(text, bytes) or not isinstance(seal, bytes) or len(text) > HEAD_LIMIT:
        raise WireError("the head of the Flower message is no text of a sensible size")
    return Packet(text, _values(records[WEIGHTS]) if WEIGHTS in records else b"", seal)


def _values(record: object) -> memoryview:
    if not isinstance(record, ArrayRecord) or set(record) != {WEIGHTS}:
        raise WireError("the weights of the Flower message are one array")
    try:
        values = record[WEIGHTS].numpy()
    except (TypeError, ValueError, EOFError):
        raise WireError("the array of the Flower message can't be read") from None
    if values.dtype != np.dtype("<f4") or values.ndim != 1:
        raise WireError("the array of the Flower message is not one row of float32")
    return np.ascontiguousarray(values).data.cast("B")
