"""Parts: small frozen objects with a name, whose fields are at once the constructor, TOML and docs.

A part is declared once as a pydantic model. `by_name` lets a configuration say `"otsu"` or
`{"name": "percentile", "share": 0.2}` wherever a field holds a part.
"""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from pydantic import BaseModel, ConfigDict, SerializerFunctionWrapHandler, model_serializer


class Part(BaseModel):
    """A named, frozen, comparable setting object. Subclasses declare fields and one method."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    name: ClassVar[str]

    @model_serializer(mode="wrap")
    def _with_name(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"name": self.name, **handler(self)}


P = TypeVar("P", bound=Part)


def nearest(word: str, known: Mapping[str, object] | list[str]) -> str:
    """The end of an error message: the near miss if there is one, else all known names."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(sorted(known))}"


def by_name(kind: str, parts: Mapping[str, type[P]]) -> Callable[[object], object]:
    """A validator that turns a name, or a table with a name, into the part of that name."""

    def build(value: object) -> object:
        table = {"name": value} if isinstance(value, str) else value
        if not isinstance(table, dict):
            return value
        fields = dict(table)
        name = fields.pop("name", None)
        if name not in parts:
            raise ValueError(f"unknown {kind} {name!r}; {nearest(str(name), parts)}")
        return parts[name](**fields)

    return build
