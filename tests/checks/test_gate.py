from dataclasses import replace

import pytest
import torch
from torch import Tensor

from fidal.checks import ContractError, check_gate
from fidal.gates import DENSITIES, THRESHOLDS, Gate, GateDecision
from fidal.gates.densities.base import Density, Score
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.thresholds.base import Threshold
from fidal.gates.thresholds.otsu import Otsu


@pytest.mark.parametrize("threshold", THRESHOLDS)
@pytest.mark.parametrize("density", DENSITIES)
def test_every_density_with_every_threshold_holds_the_contract(
    density: str, threshold: str
) -> None:
    check_gate(Gate.model_validate({"density": density, "threshold": threshold}))


@pytest.mark.parametrize("density", DENSITIES)
def test_so_it_does_on_plain_embeddings_with_the_whole_tail(density: str) -> None:
    check_gate(Gate.model_validate({"density": density, "normalise": False, "tail": None}))


class Broken(DiagonalGaussian):
    name = "broken"


class Writes(Broken):
    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        labels.zero_()
        return super().fit(labelled, labels, outliers)


class Noisy(Broken):
    """Draws from torch's generator, which others draw from as well."""

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        score = super().fit(labelled, labels, outliers)
        return lambda q: score(q) + torch.randn(len(q), dtype=torch.float64)


class Ordered(Broken):
    """Scores by position."""

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        return lambda q: torch.linspace(0, 1, len(q), dtype=torch.float64)


class Rounding(Broken):
    """Scores by digits that float32 does not have."""

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        return lambda q: (q[:, 0] * 1e9).sin()


class NeedsOutliers(Broken):
    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        return lambda q: (q[:, None] - outliers).norm(dim=2).amin(1)


DENSITY_CLAUSES: list[tuple[Density, str]] = [
    (Writes(), "modified its inputs"),
    (Noisy(), "is not deterministic"),
    (Ordered(), "depends on the order of the pool"),
    (Rounding(), "agrees with itself in float32 on"),
    (NeedsOutliers(), "fails on no labelled outlier"),
]


@pytest.mark.parametrize(
    ("density", "words"), DENSITY_CLAUSES, ids=[type(d).__name__ for d, _ in DENSITY_CLAUSES]
)
def test_a_broken_density_is_told_which_clause_it_breaks(density: Density, words: str) -> None:
    with pytest.raises(ContractError) as error:
        check_gate(Gate(density=density, threshold=Otsu(), tail=None))
    assert str(error.value).startswith(f"'broken x otsu' {words}")


def test_a_broken_threshold_is_told_the_input_that_it_fails_on() -> None:
    class NeedsNull(Threshold):
        name = "needs-null"

        def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
            assert null is not None
            return 0.5

    words = "'diagonal x needs-null' fails on two labelled ID images"
    with pytest.raises(ContractError, match=words) as error:
        check_gate(Gate(threshold=NeedsNull()))
    assert isinstance(error.value.__cause__, AssertionError)


class Upside(Gate):
    """Keeps what it weighs least."""

    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        return GateDecision(~found.keep, found.weight, found.diagnosis)


class Scalar(Gate):
    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        return GateDecision(found.keep, found.weight.mean(), found.diagnosis)


class Numbers(Gate):
    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        return GateDecision(found.keep.long(), found.weight, found.diagnosis)


class Undefined(Gate):
    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        return GateDecision(found.keep, found.weight * torch.nan, found.diagnosis)


class Boaster(Gate):
    """Says that it refused nobody."""

    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        return GateDecision(found.keep, found.weight, replace(found.diagnosis, rejected=0.0))


class Miscounting(Gate):
    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        return GateDecision(found.keep, found.weight, replace(found.diagnosis, candidates=7))


class Moody(Gate):
    """Decides soundly, and says something else each time."""

    def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
        found = super().decide(*args)
        mood = float(torch.rand(()))
        return GateDecision(found.keep, found.weight, replace(found.diagnosis, separation=mood))


@pytest.mark.parametrize(
    ("gate", "words"),
    [
        (Upside(), "refuses a candidate of higher coverage than one it keeps"),
        (Scalar(), "weight is not one number each"),
        (Undefined(), "weight leaves [0, 1] or is NaN"),
        (Numbers(), "keep is not one bool each"),
        (Boaster(), "diagnosis gives another share refused"),
        (Miscounting(), "diagnosis counts 7 of 200 candidates"),
        (Moody(), "gives another diagnosis the second time"),
    ],
)
def test_a_decision_that_is_not_well_formed_is_told_so(gate: Gate, words: str) -> None:
    with pytest.raises(ContractError) as error:
        check_gate(gate)
    assert str(error.value) == f"'diagonal x otsu' {words}"


def test_to_be_off_in_silence_breaks_the_contract() -> None:
    class Silent(Gate):
        def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
            found = super().decide(*args)
            return GateDecision(found.keep, found.weight, replace(found.diagnosis, flags=()))

    with pytest.raises(ContractError, match="does not say that it is off on no labelled ID image"):
        check_gate(Silent())


def test_refusing_without_labelled_images_breaks_the_contract() -> None:
    class Bold(Gate):
        def decide(self, *args: Tensor) -> GateDecision:  # type: ignore[override]
            if len(args[1]) >= 2:
                return super().decide(*args)
            return super().decide(args[0], args[0], args[2].new_zeros(len(args[0])), args[3])

    with pytest.raises(ContractError, match="refuses candidates on no labelled ID image"):
        check_gate(Bold())
