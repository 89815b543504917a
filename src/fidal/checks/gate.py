"""The contract of a gate, that is of every density x threshold; one function per clause."""

import torch
from torch import Tensor

from fidal.checks.contract import AGREEMENT, ContractError, require
from fidal.checks.pools import make_pool
from fidal.gates import Gate, GateDecision

Inputs = tuple[Tensor, Tensor, Tensor, Tensor]
"""Candidates, labelled ID, their labels, labelled outliers, as `Gate.decide` takes them."""


def check_gate(gate: Gate) -> None:
    """Run every clause; raise a ContractError that names the broken one."""
    inputs = _inputs()
    who = f"{gate.density.name} x {gate.threshold.name}"
    leaves_inputs_alone(gate, who, inputs)  # first: a second write often changes nothing any more
    well_formed(gate, who, inputs)
    deterministic(gate, who, inputs)
    indifferent_to_order(gate, who, inputs)
    same_in_both_precisions(gate, who)
    if torch.cuda.is_available():
        same_on_both_devices(gate, who, inputs)
    for name, odd in odd_inputs(inputs).items():
        survives(gate, who, name, odd)


def _inputs(dtype: torch.dtype = torch.float32) -> Inputs:
    pool = make_pool(n=200, n_labelled=60, n_outliers=20, dtype=dtype).pool
    assert pool.coverage is not None and pool.labelled.coverage is not None
    assert pool.outliers.coverage is not None
    return pool.coverage, pool.labelled.coverage, pool.labelled.labels, pool.outliers.coverage


def well_formed(gate: Gate, who: str, inputs: Inputs) -> GateDecision:
    """A boolean and a weight in [0, 1] per candidate, whoever is kept weighs more than who is not,
    and the diagnosis says the same.
    """
    decision, n = gate.decide(*inputs), len(inputs[0])
    keep, weight, said = decision.keep, decision.weight, decision.diagnosis
    require(keep.dtype == torch.bool and keep.shape == (n,), who, "keep is not one bool each")
    require(weight.shape == (n,), who, "weight is not one number each")
    inside = bool(((weight >= 0) & (weight <= 1)).all())
    require(inside, who, "weight leaves [0, 1] or is NaN")
    if bool(keep.any()) and not bool(keep.all()):
        ordered = bool(weight[keep].min() >= weight[~keep].max())
        require(ordered, who, "refuses a candidate of higher coverage than one it keeps")
    require(said.candidates == n, who, f"diagnosis counts {said.candidates} of {n} candidates")
    share = 1 - float(keep.double().mean())
    require(abs(said.rejected - share) < 1e-6, who, "diagnosis gives another share refused")
    return decision


def deterministic(gate: Gate, who: str, inputs: Inputs) -> None:
    """The same inputs give the same decision and diagnosis."""
    a, b = gate.decide(*inputs), gate.decide(*inputs)
    same = torch.equal(a.keep, b.keep) and torch.equal(a.weight, b.weight)
    require(same, who, "is not deterministic")
    require(a.diagnosis == b.diagnosis, who, "gives another diagnosis the second time")


def indifferent_to_order(gate: Gate, who: str, inputs: Inputs) -> None:
    """Permuting the candidates permutes the decision."""
    order = torch.randperm(len(inputs[0]), generator=torch.Generator().manual_seed(1))
    plain, other = gate.decide(*inputs), gate.decide(inputs[0][order], *inputs[1:])
    same = torch.equal(plain.keep[order], other.keep)
    require(same, who, "depends on the order of the pool")


def leaves_inputs_alone(gate: Gate, who: str, inputs: Inputs) -> None:
    """No input tensor is written to."""
    before = [x.clone() for x in inputs]
    gate.decide(*inputs)
    same = all(torch.equal(a, b) for a, b in zip(before, inputs, strict=True))
    require(same, who, "modified its inputs")


def _agree(a: GateDecision, b: GateDecision) -> float:
    return float((a.keep.cpu() == b.keep.cpu()).double().mean())


def same_in_both_precisions(gate: Gate, who: str) -> None:
    """Embeddings in float64 and the same ones rounded to float32 agree up to near-ties."""
    u, labelled, labels, outliers = inputs = _inputs(torch.float64)
    other = gate.decide(u.float(), labelled.float(), labels, outliers.float())
    share = _agree(gate.decide(*inputs), other)
    require(share >= AGREEMENT, who, f"agrees with itself in float32 on {share:.0%}")


def same_on_both_devices(gate: Gate, who: str, inputs: Inputs) -> None:
    """CPU and CUDA agree up to near-ties."""
    u, labelled, labels, outliers = (x.cuda() for x in inputs)
    share = _agree(gate.decide(*inputs), gate.decide(u, labelled, labels, outliers))
    require(share >= AGREEMENT, who, f"agrees between CPU and CUDA on {share:.0%}")


def odd_inputs(inputs: Inputs) -> dict[str, Inputs]:
    """Inputs at the edge of what a clinic may have."""
    u, labelled, labels, outliers = inputs
    return {
        "no labelled outlier": (u, labelled, labels, outliers[:0]),
        "no labelled ID image": (u, labelled[:0], labels[:0], outliers),
        "one labelled ID image": (u, labelled[:1], labels[:1], outliers),
        "two labelled ID images": (u, labelled[:2], labels[:2], outliers[:1]),
        "one class": (u, labelled, torch.zeros_like(labels), outliers),
        "constant coverage": tuple(  # type: ignore[dict-item]
            x if x is labels else torch.ones_like(x) for x in inputs
        ),
        "identical candidates": (u[:1].expand(50, -1).clone(), labelled, labels, outliers),
        "identical labelled": (u, labelled[:1].expand(30, -1).clone(), labels[:30], outliers),
        "one candidate": (u[:1], labelled, labels, outliers),
    }


def survives(gate: Gate, who: str, name: str, inputs: Inputs) -> None:
    """Odd inputs give a well-formed decision, not an exception; without ID nobody is refused."""
    try:
        decision = well_formed(gate, f"{who} on {name}", inputs)
    except ContractError:
        raise
    except Exception as error:
        raise ContractError(f"'{who}' fails on {name}: {error!r}") from error
    if len(inputs[1]) < 2:
        require(bool(decision.keep.all()), who, f"refuses candidates on {name}")
        require(bool(decision.diagnosis.flags), who, f"does not say that it is off on {name}")
