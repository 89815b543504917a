"""Every strategy goes from the command line to the page."""

import math
from html.parser import HTMLParser

import pytest

from fidal.experiment.records import FEDERATION
from fidal.report.style import label
from fidal.rows import Row, read
from fidal.strategies import STRATEGIES
from tests.smoke.conftest import Smoke

pytestmark = pytest.mark.slow

FOURTEEN = sorted(set(STRATEGIES) - {"fidal-paper"})


def rows(smoke: Smoke, strategy: str) -> list[Row]:
    (run,) = (each for each in smoke.experiments if each.strategy.name == strategy)
    return read(smoke.runs / run.run_name / "rounds.jsonl")


@pytest.fixture(scope="module")
def page(smoke: Smoke) -> str:
    return (smoke.report / "report.html").read_text("utf-8")


def test_all_fourteen_ran_and_none_failed(smoke: Smoke) -> None:
    assert sorted(each.strategy.name for each in smoke.experiments) == FOURTEEN
    assert {path.parent.name for path in smoke.runs.glob("*/rounds.jsonl")} == {
        each.run_name for each in smoke.experiments
    }
    assert not list(smoke.runs.glob("*/failures.jsonl")) and not list(smoke.runs.glob("*/log.txt"))


@pytest.mark.parametrize("strategy", FOURTEEN)
def test_rows_count_every_query_and_every_test_image(smoke: Smoke, strategy: str) -> None:
    found = rows(smoke, strategy)
    assert len(found) == 3 * (4 + 1)
    for row in found:
        sites = 4 if row["site"] == FEDERATION else 1
        asked = 8 * sites * (int(str(row["round"])) + 1)
        assert row["asked"] == 8 * sites
        assert int(str(row["labelled"])) + int(str(row["outliers"])) == asked
        assert math.isclose(float(str(row["purity"])), int(str(row["labelled"])) / asked)
        confusion = row["confusion"]
        assert isinstance(confusion, list)
        assert sum(sum(line) for line in confusion) == 16 * sites  # type: ignore[arg-type,misc]
    gates = [row["gate"] for row in found if row["site"] == FEDERATION]
    assert [gate is not None for gate in gates] == [False, *[strategy == "fidal"] * 2]


def test_all_begin_with_the_same_random_warm_up(smoke: Smoke) -> None:
    counts = ("site", "labelled", "outliers", "answered_ood", "candidates")
    first = [
        [[row[key] for key in counts] for row in rows(smoke, strategy)[:5]] for strategy in FOURTEEN
    ]
    assert all(each == first[0] for each in first)


def test_they_do_not_all_choose_alike(smoke: Smoke) -> None:
    last = {strategy: rows(smoke, strategy)[-1]["confusion"] for strategy in FOURTEEN}
    asked = {
        strategy: tuple(
            tuple(read(smoke.runs / run.run_name / "sites" / "valley" / "queries.jsonl")[1]["ids"])  # type: ignore[arg-type]
            for run in smoke.experiments
            if run.strategy.name == strategy
        )
        for strategy in FOURTEEN
    }
    assert len(set(asked.values())) == len(FOURTEEN)
    assert len({str(value) for value in last.values()}) > len(FOURTEEN) / 2


class Reader(HTMLParser):
    """The words of a page, and all that it would load."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.loads: list[str] = []
        self._silent = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("style", "script"):
            self._silent = tag
        for name, value in attrs:
            if (name == "src" or (name == "href" and tag == "link")) and value:
                self.loads.append(value)

    def handle_endtag(self, tag: str) -> None:
        self._silent = "" if tag == self._silent else self._silent

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.words.append(data)


def test_the_page_names_every_strategy_and_loads_nothing(page: str) -> None:
    reader = Reader()
    reader.feed(page)
    text = " ".join(" ".join(reader.words).split())
    assert {strategy for strategy in FOURTEEN if label(strategy) not in text} == set()
    assert all(load.startswith("data:") for load in reader.loads)
    assert "one seed only" in text, "what one seed can't show is said"


def test_the_page_has_the_numbers_of_the_rows(smoke: Smoke, page: str) -> None:
    reader = Reader()
    reader.feed(page)
    cells = {word.strip() for word in reader.words}
    for strategy in FOURTEEN:
        purity = float(str(rows(smoke, strategy)[-1]["purity"]))
        assert any(cell.startswith(f"{100 * purity:.1f}") for cell in cells), strategy


def test_figures_and_tables_lie_beside_the_page(smoke: Smoke) -> None:
    figures = {path.stem for path in (smoke.report / "figures").glob("*.png")}
    assert {path.stem for path in (smoke.report / "figures").glob("*.svg")} == figures
    wanted = ("accuracy-ood", "pareto", "trajectories", "composition", "gate", "exemplars")
    assert all(any(stem.endswith(name) for stem in figures) for name in wanted)
    tables = [path.read_text() for path in (smoke.report / "tables").glob("*.csv")]
    names = {label(strategy) for strategy in FOURTEEN}
    whole = [text for text in tables if names <= {line.split(",")[0] for line in text.splitlines()}]
    assert len(tables) > 5 and len(whole) > 2
