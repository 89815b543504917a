"""The report: one self-contained page, and every figure and table as files beside it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, Template

from fidal.report.extras import Albums, gather
from fidal.report.feature_map import Projection
from fidal.report.figures import Drawn, figures_of, figures_of_sweep
from fidal.report.files import Plate, slug, write_figure, write_table
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import label, ordered
from fidal.report.summary import Finding, summary
from fidal.report.tables import tables_across, tables_of, tables_of_sweep
from fidal.report.tables.cost import READING_SECONDS
from fidal.report.tables.table import Table
from fidal.report.variations import usual, variations
from fidal.storage import write_atomic

PAGE: Final = "report.html"
BRIEF: Final = ("Accuracy", "Expert time")


@dataclass(frozen=True)
class Chapter:
    """A study, or several side by side, as the page shows it."""

    name: str
    key: str
    findings: Sequence[Finding]
    plates: Sequence[Plate]
    tables: Sequence[tuple[Table, str]]
    """With the path of its files beside the page, without the ending."""

    @property
    def brief(self) -> list[Finding]:
        """What stands on top of a page with several chapters."""
        return [finding for finding in self.findings if finding.about in BRIEF]


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
        drawn: Sequence[Drawn],
        tables: Sequence[Table],
        findings: Sequence[Finding] = (),
    ) -> Chapter:
        """Its files are written."""
        key = slug(name)
        plates = [write_figure(one, self.out, key) for one in drawn]
        filed = [(table, write_table(table, self.out, key)) for table in tables]
        return Chapter(name, key, findings, plates, filed)


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
    chapters = [_chapter(study, desk) for study in reading.studies]
    overview = list(_overview(reading.studies, desk))
    methods = ordered({study.strategy(m) for study in reading.studies for m in study.methods})
    page = _template().render(
        title=title or _title(reading.studies),
        notices=notices,
        chapters=chapters,
        overview=overview,
        strategies=[(method, label(method)) for method in methods],
    )
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / PAGE, page.encode())
    return out / PAGE


def _chapter(study: Study, desk: Desk) -> Chapter:
    extras = gather(study, desk.albums, desk.notices)
    return desk.chapter(
        study.name,
        figures_of(study, extras, desk.seconds),
        tables_of(study, extras, desk.seconds),
        summary(study, desk.seconds, extras.subgroups),
    )


def _overview(studies: Sequence[Study], desk: Desk) -> Iterator[Chapter]:
    """What stands side by side: all benchmarks, and the settings of each."""
    benchmarks: dict[str, list[Study]] = {}
    for study in studies:
        benchmarks.setdefault(study.benchmark, []).append(study)
    if len(benchmarks) > 1:
        chosen = [usual(settings) for settings in benchmarks.values()]
        yield desk.chapter("All benchmarks", [], tables_across(chosen))
    for benchmark, settings in benchmarks.items():
        if len(settings) > 1:
            lines = variations(settings)
            name = f"All settings of {benchmark}"
            yield desk.chapter(name, figures_of_sweep(lines), tables_of_sweep(lines))


def _title(studies: Iterable[Study]) -> str:
    names = dict.fromkeys(study.benchmark for study in studies)
    return f"fidal: results on {', '.join(names)}" if names else "fidal: no results yet"


def _template() -> Template:
    loader = PackageLoader("fidal.report", "templates")
    return Environment(loader=loader, autoescape=True).get_template("page.html.j2")
