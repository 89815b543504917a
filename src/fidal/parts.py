"""Parts: small frozen objects with a name, whose fields are at once the constructor, TOML and docs.

A part is declared once as a pydantic model. `by_name` lets a configuration say `"otsu"` or
`{"name": "percentile", "share": 0.2}` wherever a field holds a part.
"""

import difflib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)


class Part(BaseModel):
    """A named, frozen, comparable setting object. Subclasses declare fields and one method."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    name: ClassVar[str]

    @model_validator(mode="before")
    @classmethod
    def _from_table(cls, table: Any) -> Any:
        """A written table names its part, which has no such field, and says "none" where the field
        may be None: TOML has no null."""
        if not isinstance(table, dict):
            return table
        return {
            key: None if value == "none" and cls._may_be_none(key) else value
            for key, value in table.items()
            if (key, value) != ("name", cls.name)
        }

    @classmethod
    def _may_be_none(cls, key: str) -> bool:
        field = cls.model_fields.get(key)
        return field is not None and type(None) in get_args(field.annotation)

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
        if "name" not in fields:
            raise ValueError(f"which {kind}? give it a name; known: {', '.join(sorted(parts))}")
        name = fields.pop("name")
        if not isinstance(name, str) or name not in parts:
            raise ValueError(f"unknown {kind} {name!r}; {nearest(str(name), parts)}")
        try:
            return parts[name](**fields)
        except ValidationError as error:
            raise ValueError(explain(error, parts[name])) from error

    return build


def explain(error: ValidationError, model: type[BaseModel]) -> str:
    """Pydantic's findings as sentences: the field's path, what is wrong, the nearest known key."""
    lines = []
    for found in error.errors():
        path = ".".join(str(word) for word in found["loc"])
        if found["type"] == "extra_forbidden":
            word, known = str(found["loc"][-1]), _fields(model, found["loc"][:-1])
            lines.append(f"{path}: unknown key; {nearest(word, known)}")
        elif found["type"] == "missing":
            lines.append(f"{path}: missing; give it a value")
        else:
            lines.append(f"{path}: {found['msg'].removeprefix('Value error, ')}")
    return "\n".join(dict.fromkeys(lines))


def _fields(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The keys known at the place that `path` leads to."""
    for word in path:
        field = model.model_fields.get(str(word))
        kinds = (field.annotation, *get_args(field.annotation)) if field else ()
        models = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
        model = next(models, model)
    return list(model.model_fields)
