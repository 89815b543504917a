from statistics import median

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor

from fidal.gates import Gate
from fidal.gates.crossfit import cross_fit
from fidal.gates.densities.base import Score
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.densities.knn_cosine import KnnCosine
from fidal.gates.thresholds.known_null import KnownNull
from fidal.gates.thresholds.otsu import Otsu, otsu
from fidal.gates.thresholds.percentile import Percentile
from tests.gates.clinic import Clinic, clinic

PAPER = Gate(density=DiagonalGaussian(variance_floor=0.0), normalise=False, tail=None)


def min_max(raw: list[float]) -> list[float]:
    return [(x - min(raw)) / (max(raw) - min(raw)) for x in raw]


def raw_scores(gate: Gate, c: Clinic) -> list[float]:
    found: list[float] = gate.density.fit(c.labelled, c.labels, c.outliers)(c.candidates).tolist()
    return found


def test_the_papers_gate_against_loops() -> None:
    c = clinic(0, 0.3, n=80, n_labelled=40, width=6)
    G = min_max(raw_scores(PAPER, c))
    cut = otsu(torch.tensor(G).double().numpy())
    assert cut is not None
    decision = c.decide(PAPER)
    assert decision.weight.tolist() == pytest.approx(G)
    assert decision.keep.tolist() == [g >= cut for g in G]
    assert decision.diagnosis.cut == cut


def test_embeddings_are_scaled_to_length_one_by_default() -> None:
    c = clinic(1, 0.3, n=80, n_labelled=40, width=6)
    lengths = torch.linspace(1, 30, 80)[:, None]
    longer = Clinic(c.candidates * lengths, c.labelled * 3, c.labels, c.outliers, c.is_outlier)
    plain, scaled = c.decide(Gate()), longer.decide(Gate())
    torch.testing.assert_close(plain.weight, scaled.weight)
    blind = Gate(normalise=False)
    assert not torch.allclose(c.decide(blind).weight, longer.decide(blind).weight)


def with_a_tail(seed: int = 2) -> Clinic:
    """30 % outliers, and one that is a hundred times as far."""
    c = clinic(seed, 0.3, n=400, n_labelled=101, width=8)
    candidates = c.candidates.clone()
    row = int(c.is_outlier.nonzero()[0])
    candidates[row] += 100 * (candidates[row] - c.labelled.mean(0))
    return Clinic(candidates, c.labelled, c.labels, c.outliers, c.is_outlier)


def test_the_tail_is_clipped_at_the_labelled_ids_scale() -> None:
    c = with_a_tail()
    gate = Gate(normalise=False, tail=6.0, threshold=Percentile(share=0.3))
    raw = raw_scores(gate, c)
    null, _ = cross_fit(
        gate.density,
        c.labelled,
        c.labels,
        c.outliers,
        c.candidates,
        torch.tensor(raw, dtype=torch.float64),
    )
    middle = median(null.tolist())
    lowest = middle - 6 * 1.4826 * median(abs(x - middle) for x in null.tolist())
    assert sum(x < lowest for x in raw) > 100
    assert c.decide(gate).weight.tolist() == pytest.approx(min_max([max(x, lowest) for x in raw]))


def test_a_few_extreme_outliers_no_longer_hide_the_others_from_otsu() -> None:
    c = with_a_tail()
    printed, clipped = c.decide(Gate(normalise=False, tail=None)), c.decide(Gate(normalise=False))
    assert c.caught(printed) < 0.05
    assert any("squeezed by a tail" in flag for flag in printed.diagnosis.flags)
    assert c.caught(clipped) > 0.95 and c.lost(clipped) < 0.1
    assert not any("squeezed" in flag for flag in clipped.diagnosis.flags)


def test_a_pool_of_outliers_alone_keeps_its_order_and_is_refused_but_for_its_best() -> None:
    c = clinic(3, 1.0, n=60, n_labelled=100, width=8, distance=40)
    decision = c.decide(Gate(threshold=KnownNull()))
    assert decision.diagnosis.ood_share == 1 and decision.diagnosis.rejected == 59 / 60
    assert len(decision.weight.unique()) == 60


def test_the_best_candidate_survives_any_threshold() -> None:
    class Everybody(Percentile):
        name = "everybody"

        def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
            return 7.0

    c = clinic(4, 0.3, n=50)
    decision = c.decide(Gate(threshold=Everybody()))
    assert decision.keep.nonzero().flatten().tolist() == [int(decision.weight.argmax())]


def test_a_density_that_gives_no_number_is_named_with_the_count() -> None:
    class Undefined(KnnCosine):
        name = "undefined"

        def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
            return lambda q: torch.where(q[:, 0] > q[7, 0], torch.nan, q[:, 0])

    c = clinic(4, 0.3, n=50, n_labelled=5)
    wrong = int((c.candidates[:, 0] > c.candidates[7, 0]).sum())
    with pytest.raises(ValueError, match=f"density 'undefined' gives NaN .* {wrong} of 50"):
        c.decide(Gate(density=Undefined(), normalise=False))


@pytest.mark.parametrize("n_labelled", [0, 1])
def test_off_with_fewer_than_two_labelled_images(n_labelled: int) -> None:
    decision = clinic(5, 0.3, n=20, n_labelled=n_labelled).decide(Gate())
    assert decision.keep.all() and (decision.weight == 1).all()
    assert decision.diagnosis.flags == ("off: fewer than two labelled ID images",)
    assert decision.diagnosis.rejected == 0 and decision.diagnosis.cut == 0


def test_off_where_the_labelled_or_the_candidates_are_all_alike() -> None:
    c = clinic(6, 0.3, n=20, n_labelled=20)
    same = c.labelled[:1].expand(20, -1)
    decision = Gate().decide(c.candidates, same, c.labels, c.outliers)
    assert decision.keep.all() and "labelled ID images are alike" in decision.diagnosis.flags[0]
    decision = Gate().decide(same, c.labelled, c.labels, c.outliers)
    assert decision.keep.all() and decision.diagnosis.flags == ("off: all candidates score alike",)


def test_below_ten_random_draws_nothing_is_calibrated() -> None:
    c = clinic(7, 0.3, n=100, n_labelled=9)
    d = c.decide(Gate(threshold=KnownNull())).diagnosis
    assert d.rejected == 0 and d.id_loss is None and "fewer than 10" in d.flags[0]
    assert c.decide(Gate(threshold=Otsu())).diagnosis.rejected > 0


def test_only_randomly_drawn_images_calibrate() -> None:
    # Fifty further labelled images were let through by a gate: they are the most typical ones.
    c = clinic(8, 0.3, n=400, n_labelled=150)
    gate = Gate(density=KnnCosine(), threshold=Percentile(share=0.5))
    typical = gate.density.fit(c.labelled, c.labels, c.outliers)(c.labelled)
    drawn = torch.ones(150, dtype=torch.bool)
    drawn[typical.topk(50).indices] = False
    args = (c.candidates, c.labelled, c.labels, c.outliers)
    every, only = gate.decide(*args, ~drawn | drawn), gate.decide(*args, drawn)
    torch.testing.assert_close(every.weight, c.decide(gate).weight)
    # The fit still sees all of them, the null only a hundred: its loss counts in hundredths.
    loss, of_all = only.diagnosis.id_loss, every.diagnosis.id_loss
    assert loss is not None and of_all is not None
    assert loss * 100 == pytest.approx(round(loss * 100))
    assert loss > of_all > 0  # of the typical ones hardly any is lost
    few = torch.arange(150) < 9
    assert "fewer than 10" in gate.decide(*args, few).diagnosis.flags[0]


def test_a_candidate_is_scored_alike_in_any_block() -> None:
    c = clinic(9, 0.3, n=2500, width=8)
    G = c.decide(PAPER).weight
    assert G.tolist() == pytest.approx(min_max(raw_scores(PAPER, c)))


def test_the_weight_has_the_type_of_the_embeddings() -> None:
    c = clinic(10, 0.3, n=30)
    decision = Gate().decide(c.candidates.float(), c.labelled.float(), c.labels, c.outliers.float())
    assert decision.weight.dtype == torch.float32


def test_parts_are_built_from_names_and_tables() -> None:
    gate = Gate.model_validate({"density": "knn-cosine", "threshold": {"name": "percentile"}})
    assert gate == Gate(density=KnnCosine(), threshold=Percentile())
    assert Gate.model_validate(gate.model_dump()) == gate
    assert Gate.model_validate({"tail": "none"}).tail is None
    with pytest.raises(ValidationError, match=r"unknown threshold 'otzu'; did you mean 'otsu'\?"):
        Gate.model_validate({"threshold": "otzu"})
