import csv
import io
import json

from fidal.pilot.histogram import BINS, drawn, histogram
from fidal.pilot.recommendation import recommend
from fidal.pilot.tables import auroc_lines, csv_of, gate_lines, json_of
from fidal.pilot.trials import SiteTrials, try_gates
from tests.pilot.made import pool


def both(known: bool = True) -> list[SiteTrials]:
    return [try_gates(pool(site, i, n=200, known=known)) for i, site in enumerate(("east", "west"))]


def test_the_file_has_a_line_per_site_and_gate_with_all_counts() -> None:
    sites = both()
    lines = list(csv.DictReader(io.StringIO(csv_of(sites))))
    trials = [trial for site in sites for trial in site.trials]
    assert len(lines) == len(trials) == 48
    for line, trial in zip(lines, trials, strict=True):
        assert trial.known and trial.truth
        assert (line["site"], line["density"], line["threshold"]) == (
            trial.site,
            trial.density,
            trial.threshold,
        )
        assert float(line["cut"]) == trial.cut
        assert int(line["labels_lost"]) == trial.known.lost
        assert int(line["truth_caught"]) == trial.truth.caught


def test_what_is_not_known_is_empty() -> None:
    lines = list(csv.DictReader(io.StringIO(csv_of(both(known=False)))))
    assert {line["truth_caught"] for line in lines} == {""}
    assert all(line["labels_caught"] for line in lines)


def test_a_table_is_sorted_by_cost_and_has_every_site() -> None:
    sites = both()
    header, lines = gate_lines(sites, "truth")
    assert header == ("density", "threshold", "east", "west", "all sites", "AUROC", "cost")
    costs = [float(line[-1]) for line in lines]
    assert costs == sorted(costs) and len(lines) == 24
    east = next(t for t in sites[0].trials if (t.density, t.threshold) == lines[0][:2])
    assert east.truth
    caught, lost = east.truth.caught / east.truth.outliers, east.truth.lost / east.truth.inside
    assert lines[0][2] == f"{100 * caught:.0f} / {100 * lost:.0f}"
    assert gate_lines(both(known=False), "truth")[1] == []


def test_the_true_auroc_stands_in_brackets_where_it_is_known() -> None:
    sites = both()
    header, lines = auroc_lines(sites)
    trial = sites[1].trials[0]
    assert trial.known and trial.truth and header == ("density", "east", "west")
    assert lines[0][2] == f"{trial.known.auroc:.3f} ({trial.truth.auroc:.3f})"
    assert "(" not in "".join(auroc_lines(both(known=False))[1][0])


def test_the_histogram_counts_every_candidate_once() -> None:
    (site, _) = both()
    counts = histogram(site, "diagonal")
    assert len(counts) == BINS and sum(counts) == 200
    assert drawn([0] * 5) == "     "


def test_json_holds_it_all() -> None:
    sites = both()
    recommended = [each for basis in ("labels", "truth") if (each := recommend(sites, basis))]  # type: ignore[arg-type]
    found = json.loads(json.dumps(json_of(sites, recommended), allow_nan=False))
    assert len(found["trials"]) == 48 and len(found["histograms"]) == 8
    assert len(found["gates"]["labels"]) == len(found["gates"]["truth"]) == 24
    labels = found["recommended"]["labels"]
    cost = {(g["density"], g["threshold"]): g["cost"] for g in found["gates"]["labels"]}
    assert cost[labels["density"], labels["threshold"]] == min(cost.values())
    assert labels["lambda_div"] == {"fidal-paper": [0.5, 1.0], "fidal": [2.0, 10.0]}
