from pydantic import JsonValue

from fidal.report.labels import Table, label_all, label_variants, most_usual

OTSU: JsonValue = {"density": {"name": "diagonal"}, "threshold": {"name": "otsu"}, "floor": 0.1}
BASE: Table = {"name": "fidal", "lambda_div": 5.0, "weight": True, "gate": OTSU}


def test_equal_tables_need_no_label() -> None:
    assert label_all([BASE, BASE]) == ["", ""]


def test_only_what_varies_is_named() -> None:
    one: Table = {"budget": 50, "training": {"rounds": 10, "lr": 0.1}}
    two: Table = {"budget": 50, "training": {"rounds": 100, "lr": 0.1}}
    assert label_all([one, two]) == ["rounds=10", "rounds=100"]


def test_equal_last_names_are_written_in_full() -> None:
    one: Table = {"a": {"lr": 1}, "b": {"lr": 1}}
    two: Table = {"a": {"lr": 2}, "b": {"lr": 3}}
    assert label_all([one, two]) == ["a.lr=1, b.lr=1", "a.lr=2, b.lr=3"]


def test_communication_rounds_are_not_taken_for_al_rounds() -> None:
    tables: list[Table] = [{"rounds": 5, "training": {"rounds": n}} for n in (2, 20)]
    assert label_all(tables) == ["training.rounds=2", "training.rounds=20"]


def test_a_variant_is_named_by_its_departures() -> None:
    threshold: JsonValue = {"name": "known-null", "level": 0.05}
    tables: list[Table] = [
        BASE,
        {**BASE, "gate": None},
        {**BASE, "lambda_div": 0.0},
        {**BASE, "weight": False},
    ]
    assert label_variants(tables, BASE) == ["", "gate=none", "lambda_div=0", "weight=off"]
    swapped: Table = {**BASE, "gate": {**OTSU, "threshold": threshold}}  # type: ignore[dict-item]
    assert label_variants([BASE, swapped], BASE) == ["", "threshold=known-null"]


def test_what_no_variant_changes_is_not_named_though_it_is_not_the_default() -> None:
    tables: list[Table] = [{**BASE, "lambda_div": 2.0}, {**BASE, "lambda_div": 2.0, "gate": None}]
    assert label_variants(tables, BASE) == ["", "gate=none"]


def test_the_usual_one_is_the_default_or_the_centre_of_an_ablation() -> None:
    centre: Table = {"a": 9, "b": 9, "c": 9}
    arms: list[Table] = [{**centre, "a": 0}, {**centre, "b": 0}, centre, {**centre, "c": 0}]
    assert most_usual(arms, None) == centre
    assert most_usual(arms, arms[0]) == arms[0]
    assert most_usual(arms, {"a": 7}) == centre
