"""Messages as bytes, and back. What may be in them is read off the dataclasses of `messages.py`.

The head is JSON: stamp, kind, fields. Weights stand in it by their manifest; their values are the
packet's array. Decoding is strict: exactly the fields of the kind, of their types, within limits,
and texts that can't be a path or a line of a program. What is sent passes the same check as what is
received. Nothing is unpickled.

This file is imported by what forwards messages, so torch is imported when an array is decoded.
"""

import dataclasses
import functools
import json
import math
import re
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from fidal.federation import messages
from fidal.federation.frames import Buffer, Packet, WireError, check_seal, sealed
from fidal.federation.messages import Reply, Request, Stamp

if TYPE_CHECKING:
    from torch import Tensor

WIRE: Final = 1
"""Raised whenever older programs would misread a message."""

KINDS: Final[Mapping[str, type]] = {
    kind.__name__: kind for kind in (*get_args(Request), *get_args(Reply))
}
LONGEST: Final = 20_000
"""Entries of one list."""
LARGEST: Final = 2**53
NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 _+-]|\.(?!\.)){0,199}")
SENTENCE: Final = re.compile(r"[A-Za-z0-9 .,:;()'_+=<>%*-]{1,300}")
NOT_FINITE: Final = ("nan", "inf", "-inf")


class _Array:
    """Stands for `Tensor` among the types of fields."""


def encode(message: Request | Reply, stamp: Stamp) -> Packet:
    """Raises a `WireError` if a field holds what may not cross the wire."""
    arrays: list[Buffer] = []
    head = {
        "stamp": _raw(stamp, []),
        "kind": type(message).__name__,
        "fields": _raw(message, arrays),
    }
    if len(arrays) > 1:
        raise WireError("a message carries one array at most")
    array = arrays[0] if arrays else b""
    _parse(head, array)
    return sealed(json.dumps(head, allow_nan=False).encode(), array)


def decode(packet: Packet) -> tuple[Stamp, Request | Reply]:
    """The message of a packet that anybody may have made. Anything odd is a `WireError`."""
    check_seal(packet)
    try:
        head = json.loads(packet.head, object_pairs_hook=_object, parse_constant=_no_constant)
    except WireError:
        raise
    except (ValueError, RecursionError):
        raise WireError("the head is no JSON text") from None
    return _parse(head, packet.array)


def told(message: Request | Reply) -> dict[str, Any]:
    """What a message says, for a log: its kind and fields, and of weights how many there are."""
    fields = _raw(message, [])
    if fields.get("weights") is not None:
        weights = fields["weights"]
        fields["weights"] = {"tensors": len(weights["specs"]), "values": weights["flat"]}
    return {"kind": type(message).__name__, "fields": fields}


def _parse(head: Any, array: Buffer) -> tuple[Stamp, Request | Reply]:
    if not isinstance(head, dict) or set(head) != {"stamp", "kind", "fields"}:
        raise WireError("the head needs stamp, kind and fields, and nothing else")
    kind = KINDS.get(head["kind"]) if isinstance(head["kind"], str) else None
    if kind is None:
        raise WireError(f"unknown kind of message; known: {', '.join(KINDS)}")
    left = [array] if len(array) else []
    stamp = _value(Stamp, head["stamp"], "stamp", [])
    message = _value(kind, head["fields"], kind.__name__, left)
    if left:
        raise WireError(f"{kind.__name__} comes with an array that it has no field for")
    return stamp, message


def _raw(value: Any, arrays: list[Buffer]) -> Any:
    """What JSON can hold; arrays are put aside."""
    if dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value)]
        return {name: _raw(getattr(value, name), arrays) for name in names}
    if isinstance(value, tuple):
        return [_raw(each, arrays) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float):
        return value
    flat = value.detach().to("cpu").contiguous().numpy()
    arrays.append(memoryview(flat).cast("B") if flat.size else b"")
    return len(flat)


def _value(kind: Any, raw: Any, where: str, arrays: list[Buffer]) -> Any:
    """`raw` as a value of `kind`, a type of a field in `messages.py`."""
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        hints = _hints(kind)
        if not isinstance(raw, dict) or set(raw) != set(hints):
            raise WireError(f"{where} needs the fields {', '.join(hints)}, and no others")
        return kind(
            **{k: _value(hint, raw[k], f"{where}.{k}", arrays) for k, hint in hints.items()}
        )
    if kind is _Array:
        return _tensor(raw, where, arrays)
    if get_origin(kind) is tuple:
        if not isinstance(raw, list) or len(raw) > LONGEST:
            raise WireError(f"{where} needs a list of at most {LONGEST} entries")
        return tuple(_value(get_args(kind)[0], each, where, arrays) for each in raw)
    if get_origin(kind) in (UnionType, Union):
        (other,) = [member for member in get_args(kind) if member is not NoneType]
        return None if raw is None else _value(other, raw, where, arrays)
    return _scalar(kind, raw, where)


def _scalar(kind: Any, raw: Any, where: str) -> Any:
    if not _fits(kind, raw, where):
        name = getattr(kind, "__name__", "word")
        raise WireError(f"{where} holds no {name} that is allowed there")
    return float(raw) if kind is float else raw


def _fits(kind: Any, raw: Any, where: str) -> bool:
    if isinstance(raw, str):
        if get_origin(kind) is Literal:
            return raw in get_args(kind)
        if kind is float:
            return raw in NOT_FINITE
        pattern = SENTENCE if where.endswith(".reason") else NAME
        return kind is str and pattern.fullmatch(raw) is not None
    if type(raw) is int:
        return kind in (int, float) and abs(raw) <= LARGEST
    return type(raw) is kind and (kind is bool or (kind is float and math.isfinite(raw)))


def _tensor(raw: Any, where: str, arrays: list[Buffer]) -> "Tensor":
    import torch  # late, see above

    if type(raw) is not int or raw < 0 or raw * 4 != (len(arrays[0]) if arrays else 0):
        raise WireError(f"{where}: the array does not have the size that is written there")
    if raw == 0:
        return torch.zeros(0)
    return torch.frombuffer(bytearray(arrays.pop()), dtype=torch.float32)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, vars(messages), {"Tensor": _Array})


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise WireError("the head names a field twice")
    return found


def _no_constant(word: str) -> None:
    raise WireError("the head holds a number that is none")
