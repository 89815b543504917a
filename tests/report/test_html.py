import csv
import re
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fidal.report.html import write_report
from tests.report.made import CLASSES, make_run


@pytest.fixture(scope="module")
def page(pictured: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    return write_report([pictured / "runs"], out, out / "cache", title="Ours & <theirs>")


class Links(HTMLParser):
    """Everything the page refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [str(v) for k, v in attrs if k in ("href", "src", "xlink:href", "action")]


def test_the_page_needs_no_network(page: Path) -> None:
    text = page.read_text()
    links = Links()
    links.feed(text)
    assert links.found
    for link in links.found:
        assert link.startswith(("data:", "#", "figures/", "tables/")), link
    assert not re.search(r"@import|url\((?!#)|fetch\(|XMLHttp", text)


def test_every_figure_and_table_lies_beside_it_and_is_linked(page: Path) -> None:
    links = Links()
    links.feed(page.read_text())
    beside = {link for link in links.found if link.startswith(("figures/", "tables/"))}
    written = {
        str(file.relative_to(page.parent))
        for folder in ("figures", "tables")
        for file in (page.parent / folder).iterdir()
    }
    assert beside == written
    names = {Path(name).stem.removeprefix("folder-") for name in written}
    assert {"accuracy-ood", "pareto", "exemplars", "gate", "best-round", "final-round"} <= names
    assert {Path(name).suffix for name in written} == {".png", ".svg", ".csv", ".md", ".tex"}


def test_a_table_on_the_page_and_on_disk_are_the_same(page: Path) -> None:
    rows = list(csv.DictReader((page.parent / "tables" / "folder-final-round.csv").open()))
    assert [row["Method"] for row in rows] == ["Random", "FIDAL"]
    assert f"{float(rows[1]['BMA, pooled (%)']):.1f}" in page.read_text()


def test_the_title_and_the_notices_are_text_not_markup(page: Path) -> None:
    text = page.read_text()
    assert "<h1>Ours &amp; &lt;theirs&gt;</h1>" in text
    assert "<theirs>" not in text
    assert "There is one seed only" in text


def test_the_exemplars_are_embedded_as_photographs(page: Path) -> None:
    assert '<img alt="Queried and refused images" src="data:image/png;base64,' in page.read_text()


def test_no_runs_still_give_a_page_that_says_so(tmp_path: Path) -> None:
    page = write_report([tmp_path / "runs"], tmp_path / "out", tmp_path / "cache")
    text = page.read_text()
    assert "does not exist" in text and "no result to show yet" in text
    assert "<figure" not in text


def test_absent_images_are_said_and_the_rest_stands(tmp_path: Path) -> None:
    source = {"name": "folder", "manifest": str(tmp_path / "gone.csv")}
    folder = make_run(tmp_path / "runs", "fidal", benchmark=source)
    site = folder / "sites" / "north"
    site.mkdir(parents=True)
    line = '{"schema":1,"round":1,"ids":["a"],"answers":[0],"scores":{},"notes":[],"terms":{}}\n'
    (site / "queries.jsonl").write_text(line)
    text = write_report([tmp_path / "runs"], tmp_path / "out", tmp_path / "cache").read_text()
    assert "nothing is shown of single images" in text and "gone.csv" in text
    assert "Accuracy against OOD queried" in text


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two settings of phantom and one of another benchmark, small."""
    root = tmp_path_factory.mktemp("many")
    for name, budget in (("phantom", 50), ("phantom", 100), ("other", 50)):
        for strategy in ("fidal", "random"):
            source = {"name": name}
            few = {"sites": ("north",), "classes": CLASSES[:3], "rounds": 2}
            make_run(root / "runs", strategy, benchmark=source, budget=budget, **few)
    return write_report([root / "runs"], root / "out", root / "cache")


def test_settings_stand_side_by_side_and_apart(many: Path) -> None:
    text = many.read_text()
    assert "All benchmarks" in text and "All settings of phantom" in text
    figures = {file.name for file in (many.parent / "figures").iterdir()}
    assert "all-settings-of-phantom-settings-radar-budget.png" in figures
    assert "all-settings-of-phantom-settings-trajectories-budget.svg" in figures
    tables = {file.name for file in (many.parent / "tables").iterdir()}
    assert {"all-benchmarks-best-round.csv", "all-settings-of-phantom-final-round.tex"} <= tables
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_several_settings_have_one_brief_and_a_filter_each(many: Path) -> None:
    text = many.read_text()
    brief = text[text.index('class="summary"') : text.index('class="notices"')]
    assert re.findall(r"<h3>(.*?)</h3>", brief) == ["other", "phantom (budget=50)"]
    assert brief.count("<dt>All settings</dt>") == 1
    boxes = re.findall(r'data-hides="(\w+)" value="([^"]+)"', text)
    assert [value for kind, value in boxes if kind == "benchmark"] == ["other", "phantom"]
    assert [value for kind, value in boxes if kind == "study"] == [
        "other",
        "phantom-budget-50",
        "phantom-budget-100",
    ]


def test_the_real_runs_show_what_their_sites_kept(real: Path, tmp_path: Path) -> None:
    page = write_report([real / "runs"], tmp_path, real / "data" / "cache")
    text = page.read_text()
    for title in ("What the gate’s encoder sees", "Where each rule would cut", "by subgroup"):
        assert title in text
    written = {file.name for file in (tmp_path / "tables").iterdir()}
    assert {"folder-subgroups.csv", "folder-gate-rules.tex", "folder-intervals.md"} <= written


def chromium(folder: Path, *arguments: str) -> str:
    """What it printed."""
    profile = f"--user-data-dir={folder / 'chromium'}"
    command = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", profile, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    return done.stdout


def in_browser(page: Path, script: str, folder: Path, hash: str = "") -> str:
    """The document's title after `script` has set it."""
    probed = folder / "probed.html"
    probed.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    text = chromium(folder, "--window-size=1200,900", "--dump-dom", probed.as_uri() + hash)
    return text[text.index("<title>") + 7 : text.index("</title>")]


SHOWN = """const shown = (what) => [...document.querySelectorAll(what)]
  .filter((part) => getComputedStyle(part).display !== "none").length;"""


@pytest.mark.browser
def test_in_a_browser_a_filter_hides_a_strategy_and_stays_in_the_address(
    page: Path, tmp_path: Path
) -> None:
    script = f"""{SHOWN}
      const before = shown('[data-strategy="random"]');
      document.querySelector('input[value="random"]').click();
      const wide = document.documentElement.scrollWidth <= innerWidth;
      document.title = `before ${{before > 10}} after ${{shown('[data-strategy="random"]')}} `
        + `others ${{shown('[data-strategy="fidal"]') > 10}} fits ${{wide}} ${{location.hash}}`;"""
    title = in_browser(page, script, tmp_path)
    assert title == "before true after 0 others true fits true #hide=strategy%3Arandom"


@pytest.mark.browser
def test_in_a_browser_an_address_opens_its_own_view(many: Path, tmp_path: Path) -> None:
    script = f"""{SHOWN}
      document.title = [shown('[data-benchmark="phantom"]'), shown('[data-strategy="fidal"]'),
        shown('[data-benchmark="other"]') > 1, shown('[data-strategy="random"]') > 10,
        document.querySelector('input[value="fidal"]').checked].join(" ");"""
    hidden = "#hide=benchmark%3Aphantom,strategy%3Afidal"
    assert in_browser(many, script, tmp_path, hidden) == "0 0 true true false"


@pytest.mark.browser
def test_in_a_browser_the_page_prints_on_few_sheets(page: Path, tmp_path: Path) -> None:
    """Small figures side by side, so that none has a page of its own."""
    sheet = tmp_path / "page.pdf"
    chromium(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={sheet}", page.as_uri())
    pages = len(re.findall(rb"/Type\s*/Page\b", sheet.read_bytes()))
    assert 3 <= pages <= 12
