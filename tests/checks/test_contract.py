from dataclasses import dataclass
from types import MappingProxyType

import pytest
import torch
from torch import Tensor

from fidal.checks.contract import ContractError, moved, require, shared, tensors


@dataclass(frozen=True, eq=False)
class Inner:
    numbers: Tensor
    name: str = "inner"


@dataclass(frozen=True, eq=False)
class Outer:
    first: Tensor
    inner: Inner
    outputs: MappingProxyType[str, Tensor]
    absent: Tensor | None = None


def outer() -> Outer:
    outputs = {"b": torch.tensor([True]), "a": torch.tensor([4, 5])}
    return Outer(torch.tensor([1.5, 2.5]), Inner(torch.tensor([3.5])), MappingProxyType(outputs))


def test_a_broken_clause_names_the_culprit_and_a_kept_one_says_nothing() -> None:
    require(True, "badge", "is not deterministic")
    with pytest.raises(ContractError, match=r"^'badge' is not deterministic$") as error:
        require(False, "badge", "is not deterministic")
    assert isinstance(error.value, AssertionError)  # what a user's own test suite reports


def test_every_tensor_is_found_in_the_order_of_the_fields() -> None:
    found = [x.tolist() for x in tensors(outer())]
    assert found == [[1.5, 2.5], [3.5], [True], [4, 5]]
    assert list(tensors("no tensor")) == list(tensors(Inner)) == []


def test_another_type_is_for_floating_tensors_alone() -> None:
    there = moved(outer(), dtype=torch.float64)
    assert [x.dtype for x in tensors(there)] == [
        torch.float64,
        torch.float64,
        torch.bool,
        torch.int64,
    ]
    assert [x.tolist() for x in tensors(there)] == [x.tolist() for x in tensors(outer())]
    assert there.inner.name == "inner" and there.absent is None


def test_another_device_is_for_all_and_the_original_stays() -> None:
    here = outer()
    there = moved(here, device="meta", dtype=torch.float64)
    assert {x.device.type for x in tensors(there)} == {"meta"}
    assert {x.device.type for x in tensors(here)} == {"cpu"}
    assert here.first.dtype == torch.float32


def test_agreement_is_the_share_of_ids_whatever_their_order() -> None:
    assert shared(("a", "b", "c", "d"), ("d", "c", "x", "b")) == 0.75
    assert shared(("a",), ("b",)) == 0.0
    assert shared((), ()) == 1.0
