"""docs/report.md names every figure and table that there is."""

from pathlib import Path

from fidal.report.extras import Albums, gather
from fidal.report.figures import figures_of, figures_of_sweep
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.tables import tables_of
from fidal.report.variations import Variation

DOCS = (Path(__file__).parents[2] / "docs" / "report.md").read_text()


def test_every_figure_and_table_is_in_the_docs(study: Study, real: Path) -> None:
    (kept,) = read_folders([real / "runs"]).studies
    extras = gather(kept, Albums(real / "data" / "cache"), [])
    line = Variation("FIELD", ("1", "2"), (study, study), "")
    drawn = [*figures_of(study), *figures_of(kept, extras), *figures_of_sweep([line])]
    tables = [*tables_of(study), *tables_of(kept, extras)]
    names = {one.name for one in drawn} | {table.name for table in tables}
    assert len(names) > 25
    assert [name for name in sorted(names) if f"`{name}`" not in DOCS] == []
