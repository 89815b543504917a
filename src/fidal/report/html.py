"""The report: one self-contained page, and every figure and table as files beside it."""

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jinja2 import Environment, PackageLoader, Template
from markupsafe import Markup

from fidal.report.album import Album, open_album
from fidal.report.comparing import reference
from fidal.report.evidence import SiteQuery, site_queries
from fidal.report.export import inline, png, svg
from fidal.report.figures import Drawn, figures_across, figures_of
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import TWO_COLUMNS, label, ordered
from fidal.report.summary import Finding, summary
from fidal.report.tables import tables_across, tables_of
from fidal.report.tables.cost import READING_SECONDS
from fidal.report.tables.table import Table
from fidal.storage import StateError, write_atomic

PAGE: Final = "report.html"
BRIEF: Final = ("Accuracy", "Expert time")


@dataclass(frozen=True)
class Plate:
    """A figure as the page shows it."""

    title: str
    caption: str
    image: Markup
    wide: bool
    file: str
    """Path of its files beside the page, without the ending."""


@dataclass(frozen=True)
class Chapter:
    """A study as the page shows it."""

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


def write_report(
    folders: Sequence[Path],
    out: Path,
    cache: Path,
    title: str | None = None,
    seconds: float = READING_SECONDS,
) -> Path:
    """In: run folders, or folders of them; `cache` is where their benchmarks were kept.

    `seconds` is the reading time per image that hours are counted with. Out: the page, which is
    always written: what is wrong with the runs stands in it.
    """
    reading = read_folders(folders)
    notices = list(reading.notices)
    chapters = [_chapter(study, out, cache, seconds, notices) for study in reading.studies]
    overview = [_overview(studies, name, out) for name, studies in _together(reading.studies)]
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


def _chapter(study: Study, out: Path, cache: Path, seconds: float, notices: list[str]) -> Chapter:
    queries, album = _evidence(study, cache, notices)
    figures = figures_of(study, queries, album, seconds)
    key = slug(study.name)
    manifest = album.benchmark.manifest if album else None
    return Chapter(
        name=study.name,
        key=key,
        findings=summary(study, seconds),
        plates=[_plate(drawn, out, key) for drawn in figures],
        tables=[
            (table, _write_table(table, out, f"{key}-"))
            for table in tables_of(study, manifest, seconds)
        ],
    )


def _together(studies: Sequence[Study]) -> Iterator[tuple[str, Sequence[Study]]]:
    """What stands side by side: all benchmarks, and the settings of each."""
    by_benchmark: dict[str, list[Study]] = {}
    for study in studies:
        by_benchmark.setdefault(study.benchmark, []).append(study)
    if len(by_benchmark) > 1:
        yield "All benchmarks", studies
    for benchmark, settings in by_benchmark.items():
        if len(settings) > 1:
            yield f"All settings of {benchmark}", settings


def _overview(studies: Sequence[Study], name: str, out: Path) -> Chapter:
    key = slug(name)
    same = len({study.benchmark for study in studies}) == 1
    return Chapter(
        name=name,
        key=key,
        findings=(),
        plates=[_plate(drawn, out, key) for drawn in figures_across(studies)] if same else [],
        tables=[(table, _write_table(table, out, f"{key}-")) for table in tables_across(studies)],
    )


def _evidence(
    study: Study, cache: Path, notices: list[str]
) -> tuple[tuple[SiteQuery, ...], Album | None]:
    """The reference's last query at every site, and the pictures; without them the rest stands."""
    method = reference(study)
    run = next(run for seed in study.seeds if (run := study.run(method, seed)))
    try:
        queries = site_queries(run)
        return queries, open_album(run.config, cache) if queries else None
    except (StateError, ValueError, OSError) as error:
        notices.append(f"{study.name}: no images are shown: {error}")
        return (), None


def _plate(drawn: Drawn, out: Path, key: str) -> Plate:
    file = f"figures/{key}-{drawn.name}"
    vector = svg(drawn.figure)
    drawn.figure.set_layout_engine("none")  # it is laid out; doing it again takes as long
    pixels = png(drawn.figure)
    _write(out / f"{file}.svg", vector.encode())
    _write(out / f"{file}.png", pixels)
    return Plate(
        title=drawn.title,
        caption=drawn.caption,
        image=Markup(_image(drawn, vector, pixels, key)),
        wide=drawn.figure.get_figwidth() >= TWO_COLUMNS,
        file=file,
    )


def _image(drawn: Drawn, vector: str, pixels: bytes, key: str) -> str:
    if "<image" not in vector:
        return inline(vector, f"{key}-{drawn.name}", drawn.title)
    data = base64.b64encode(pixels).decode()
    return f'<img alt="{drawn.title}" src="data:image/png;base64,{data}">'


def _write_table(table: Table, out: Path, prefix: str) -> str:
    file = f"tables/{prefix}{table.name}"
    for ending, text in (
        ("csv", table.csv()),
        ("md", table.markdown()),
        ("tex", table.latex()),
    ):
        _write(out / f"{file}.{ending}", text.encode())
    return file


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def slug(text: str) -> str:
    """For file names and ids: lower case, digits and dashes."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


def _title(studies: Iterable[Study]) -> str:
    names = dict.fromkeys(study.benchmark for study in studies)
    return f"fidal: results on {', '.join(names)}" if names else "fidal: no results yet"


def _template() -> Template:
    loader = PackageLoader("fidal.report", "templates")
    return Environment(loader=loader, autoescape=True).get_template("page.html.j2")
