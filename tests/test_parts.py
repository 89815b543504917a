from collections.abc import Mapping
from typing import Annotated, ClassVar

import pytest
from pydantic import BaseModel, BeforeValidator, Field, SerializeAsAny, ValidationError

from fidal.parts import Part, by_name, explain, nearest


class Fruit(Part):
    pass


class Apple(Fruit):
    name: ClassVar[str] = "apple"
    weight: float = Field(default=1.0, gt=0)
    colour: str | None = "red"


class Pear(Fruit):
    name: ClassVar[str] = "pear"
    rows: tuple[int, ...] = (1, 2)


FRUIT: Mapping[str, type[Fruit]] = {"apple": Apple, "pear": Pear}
AnyFruit = Annotated[SerializeAsAny[Fruit], BeforeValidator(by_name("fruit", FRUIT))]


class Handle(Part):
    name: ClassVar[str] = "handle"
    length: int = 3


class Basket(Part):
    name: ClassVar[str] = "basket"
    best: AnyFruit = Pear()
    spare: AnyFruit | None = None
    handle: Handle | None = Handle()


class Stall(BaseModel, extra="forbid"):
    basket: Basket
    price: int = 1


def refusal(part: type[BaseModel], **fields: object) -> str:
    with pytest.raises(ValidationError) as error:
        part.model_validate(fields)
    return explain(error.value, part)


def test_a_part_is_a_name_a_table_or_itself() -> None:
    assert Basket(best="apple") == Basket(best=Apple())  # type: ignore[arg-type]
    table = {"name": "apple", "weight": 2}
    assert Basket.model_validate({"best": table}).best == Apple(weight=2)
    assert table == {"name": "apple", "weight": 2}  # the configuration stays as it was
    pear = Pear(rows=(4,))
    assert Basket(best=pear).best is pear


def test_parts_are_frozen_and_equal_by_value() -> None:
    assert Apple(weight=2) == Apple(weight=2.0) != Apple(weight=3)
    with pytest.raises(ValidationError, match="frozen"):
        Apple().weight = 2.0  # type: ignore[misc]


@pytest.mark.parametrize(
    "basket",
    [
        Basket(),
        Basket(best=Apple(weight=0.1, colour=None), spare=Pear(rows=()), handle=None),
        Basket(best=Pear(rows=(3, 1)), spare=Apple(colour="none at all"), handle=Handle(length=9)),
    ],
    ids=str,
)
def test_what_is_written_says_its_names_and_reads_back_equal(basket: Basket) -> None:
    written = basket.model_dump()
    assert written["name"] == "basket" and written["best"]["name"] in FRUIT
    assert Basket.model_validate(written) == basket
    assert Basket.model_validate_json(basket.model_dump_json()) == basket
    assert type(Basket.model_validate(written).best) is type(basket.best)


def test_none_is_a_word_where_there_may_be_none_because_toml_has_no_null() -> None:
    assert Basket.model_validate({"spare": "none", "handle": "none"}) == Basket(handle=None)
    assert Apple.model_validate({"colour": "none"}).colour is None
    said = refusal(Basket, best="none")
    assert said == "best: unknown fruit 'none'; known: apple, pear"


def test_an_unknown_name_says_the_nearest_one_or_all() -> None:
    assert refusal(Basket, best="aple") == "best: unknown fruit 'aple'; did you mean 'apple'?"
    assert refusal(Basket, best="xyz") == "best: unknown fruit 'xyz'; known: apple, pear"
    assert refusal(Basket, best={"name": 7}) == "best: unknown fruit 7; known: apple, pear"


def test_a_table_without_a_name_is_asked_for_it() -> None:
    said = refusal(Basket, best={"weight": 2})
    assert said == "best: which fruit? give it a name; known: apple, pear"


def test_another_parts_name_is_no_field() -> None:
    assert refusal(Handle, name="basket").startswith("name: unknown key")


def test_an_unknown_key_says_the_nearest_one_of_its_own_table() -> None:
    assert refusal(Stall, basket={}, prize=2) == "prize: unknown key; did you mean 'price'?"
    said = refusal(Stall, basket={"bests": "pear"})
    assert said == "basket.bests: unknown key; did you mean 'best'?"
    said = refusal(Stall, basket={"best": {"name": "apple", "wait": 2}})
    assert said == "basket.best: wait: unknown key; did you mean 'weight'?"
    said = refusal(Stall, basket={"handle": {"lenght": 2}})  # in a field that may be none
    assert said == "basket.handle.lenght: unknown key; did you mean 'length'?"


def test_every_finding_is_a_line_with_its_path() -> None:
    said = refusal(Stall, price="dear", basket={"handle": {"length": "long"}, "best": "plum"})
    path, rest = zip(*(line.split(": ", 1) for line in said.split("\n")), strict=True)
    assert path == ("basket.best", "basket.handle.length", "price")
    assert rest[0] == "unknown fruit 'plum'; known: apple, pear"
    assert "valid integer" in rest[1] and "valid integer" in rest[2]


def test_a_missing_field_is_missed() -> None:
    assert refusal(Stall) == "basket: missing; add it to the configuration"


def test_a_value_out_of_range_says_the_range() -> None:
    assert refusal(Apple, weight=0) == "weight: Input should be greater than 0"


def test_the_nearest_word_or_all_in_order() -> None:
    assert nearest("knwon-null", ["known-null", "otsu"]) == "did you mean 'known-null'?"
    assert nearest("zzz", {"otsu": 1, "gmm": 2}) == "known: gmm, otsu"
