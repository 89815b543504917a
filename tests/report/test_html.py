import csv
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from fidal.report.html import slug, write_report
from tests.report.made import make_run

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


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


def test_two_settings_stand_side_by_side_and_apart(tmp_path: Path) -> None:
    for budget in (50, 100):
        make_run(tmp_path / "runs", "fidal", budget=budget)
    page = write_report([tmp_path / "runs"], tmp_path / "out", tmp_path / "cache")
    text = page.read_text()
    assert "All settings of phantom" in text
    assert (page.parent / "figures" / "all-settings-of-phantom-settings-radar-budget.png").exists()
    assert re.findall(r'data-hides="study" value="([^"]+)"', text) == [
        "phantom-budget-50",
        "phantom-budget-100",
    ]
    ids = re.findall(r'\sid="([^"]+)"', text)
    assert len(ids) == len(set(ids))


def test_slug() -> None:
    assert slug("fedham (ood_share=0.3, B=50)") == "fedham-ood-share-0.3-b-50"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_in_a_browser_a_filter_hides_a_strategy(page: Path, tmp_path: Path) -> None:
    probe = """<script>
      const shown = () => [...document.querySelectorAll('[data-strategy="random"]')]
        .filter((part) => getComputedStyle(part).display !== "none").length;
      const before = shown();
      document.querySelector('input[value="random"]').click();
      const wide = document.documentElement.scrollWidth <= innerWidth;
      document.title = `before ${before > 10} after ${shown()} fits ${wide}`;
    </script></body>"""
    probed = tmp_path / "probed.html"
    probed.write_text(page.read_text().replace("</body>", probe))
    command = [
        str(CHROMIUM),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'chromium'}",
        "--window-size=1200,900",
        "--dump-dom",
        probed.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "<title>before true after 0 fits true</title>" in done.stdout
