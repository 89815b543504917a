"""The report: one self-contained page, and every figure and table as files beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, Template

from fidal.report.extras import Albums, gather
from fidal.report.feature_map import Projection
from fidal.report.figures import Drawn, figures_of, figures_of_sweep
from fidal.report.files import Plate, slug, write_figure, write_table
from fidal.report.frame import Study
from fidal.report.overview import over_settings
from fidal.report.reading import read_folders
from fidal.report.style import label, ordered
from fidal.report.summary import Finding, summary
from fidal.report.tables import tables_across, tables_of, tables_of_sweep
from fidal.report.tables.cost import READING_SECONDS
from fidal.report.tables.table import Table
from fidal.report.variations import usual, variations
from fidal.storage import write_atomic

PAGE: Final = "report.html"
GIST: Final = ("Accuracy", "Expert time")
"""The findings that stand on top of a page with several chapters."""


@dataclass(frozen=True)
class Chapter:
    """A study, or several side by side, as the page shows it."""

    name: str
    key: str
    benchmark: str
    """Whose it is; empty where it is about several."""
    findings: Sequence[Finding]
    plates: Sequence[Plate]
    tables: Sequence[tuple[Table, str]]
    """With the path of its files beside the page, without the ending."""


@dataclass(frozen=True)
class Brief:
    """What stands on top of the page about one benchmark: a study, and all its settings."""

    name: str
    benchmark: str
    findings: Sequence[Finding]


@dataclass(frozen=True)
class Desk:
    """What all chapters are made with."""

    out: Path
    albums: Albums
    seconds: float
    notices: list[str]

    def chapter(
        self,
        name: str,
        benchmark: str,
        drawn: Sequence[Drawn],
        tables: Sequence[Table],
        findings: Sequence[Finding] = (),
    ) -> Chapter:
        """Its files are written."""
        key = slug(name)
        plates = [write_figure(one, self.out, key) for one in drawn]
        filed = [(table, write_table(table, self.out, key)) for table in tables]
        return Chapter(name, key, benchmark, findings, plates, filed)


def write_report(
    folders: Sequence[Path],
    out: Path,
    cache: Path,
    title: str | None = None,
    seconds: float = READING_SECONDS,
    projection: Projection = "pca",
) -> Path:
    """In: run folders, or folders of them; `cache` is where their benchmarks were kept.

    `seconds` is the reading time per image that hours are counted with; `projection` draws the map
    of the frozen features. Out: the page, which is always written: what is wrong with the runs
    stands in it.
    """
    reading = read_folders(folders)
    notices = list(reading.notices)
    desk = Desk(out, Albums(cache, projection), seconds, notices)
    chapters = {study: _chapter(study, desk) for study in reading.studies}
    benchmarks: dict[str, list[Study]] = {}
    for study in reading.studies:
        benchmarks.setdefault(study.benchmark, []).append(study)
    methods = ordered({study.strategy(m) for study in reading.studies for m in study.methods})
    page = _template().render(
        title=title or _title(benchmarks),
        notices=notices,
        benchmarks=list(benchmarks),
        briefs=[_brief(settings, chapters) for settings in benchmarks.values()],
        overview=list(_overview(benchmarks, desk)),
        chapters=list(chapters.values()),
        strategies=[(method, label(method)) for method in methods],
    )
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / PAGE, page.encode())
    return out / PAGE


def _chapter(study: Study, desk: Desk) -> Chapter:
    extras = gather(study, desk.albums, desk.notices)
    return desk.chapter(
        study.name,
        study.benchmark,
        figures_of(study, extras, desk.seconds),
        tables_of(study, extras, desk.seconds),
        summary(study, desk.seconds, extras.subgroups),
    )


def _brief(settings: Sequence[Study], chapters: Mapping[Study, Chapter]) -> Brief:
    """All findings of the only study, or the gist of the usual one and what all settings say."""
    chosen = usual(settings)
    findings = chapters[chosen].findings
    if len(chapters) > 1:
        findings = [finding for finding in findings if finding.about in GIST]
    together = over_settings(settings)
    return Brief(chosen.name, chosen.benchmark, [*findings, *([together] if together else [])])


def _overview(benchmarks: Mapping[str, Sequence[Study]], desk: Desk) -> Iterator[Chapter]:
    """What stands side by side: all benchmarks, and the settings of each."""
    if len(benchmarks) > 1:
        chosen = [usual(settings) for settings in benchmarks.values()]
        yield desk.chapter("All benchmarks", "", [], tables_across(chosen))
    for benchmark, settings in benchmarks.items():
        if len(settings) > 1:
            lines = variations(settings)
            drawn, tables = figures_of_sweep(lines), tables_of_sweep(lines)
            yield desk.chapter(f"All settings of {benchmark}", benchmark, drawn, tables)


def _title(benchmarks: Iterable[str]) -> str:
    names = ", ".join(benchmarks)
    return f"fidal: results on {names}" if names else "fidal: no results yet"


def _template() -> Template:
    loader = PackageLoader("fidal.report", "templates")
    return Environment(loader=loader, autoescape=True).get_template("page.html.j2")
