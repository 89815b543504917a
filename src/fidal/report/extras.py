"""What a report can show of a study beside its rows, where sites and benchmark are at hand."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from fidal.report.album import Album, open_album
from fidal.report.comparing import reference
from fidal.report.evidence import SiteQuery, last_queries
from fidal.report.feature_map import FeatureMap, Projection, feature_map
from fidal.report.frame import RunRows, Study
from fidal.report.gate_study import GateStudy, gate_study
from fidal.report.subgroups import Subgroup, subgroups
from fidal.storage import StateError


@dataclass(frozen=True, eq=False)
class Extras:
    """Each is empty where the sites kept nothing for it, or the benchmark can't be opened."""

    queries: tuple[SiteQuery, ...] = ()
    """The reference's last query at every site, in its first seed."""
    album: Album | None = None
    gate: GateStudy | None = None
    """Of the same run."""
    subgroups: tuple[Subgroup, ...] = ()
    features: FeatureMap | None = None


NOTHING: Final = Extras()


class Albums:
    """Benchmarks by configuration with their maps, made once however many studies are of one."""

    def __init__(self, cache: Path, projection: Projection = "pca") -> None:
        self._cache, self._projection = cache, projection
        self._open: dict[str, tuple[Album, FeatureMap | None]] = {}

    def of(self, config: Mapping[str, JsonValue]) -> tuple[Album, FeatureMap | None]:
        """Those of a run's configuration."""
        key = json.dumps(config["benchmark"], sort_keys=True)
        if key not in self._open:
            album = open_album(config, self._cache)
            self._open[key] = album, feature_map(album, self._projection)
        return self._open[key]


def gather(study: Study, albums: Albums, notices: list[str]) -> Extras:
    """What can't be read is said in `notices`, and the rest of the report stands."""
    run = first_run(study)
    try:
        if not any((run.folder / "sites" / site).is_dir() for site in run.sites):
            return NOTHING
        album, features = albums.of(run.config)
        return Extras(
            queries=last_queries(run),
            album=album,
            gate=gate_study(run, album),
            subgroups=subgroups(study, album),
            features=features,
        )
    except (StateError, ValueError, OSError) as error:
        notices.append(f"{study.name}: nothing is shown of single images: {error}")
        return NOTHING


def first_run(study: Study) -> RunRows:
    """The reference's, of the first seed that it has."""
    method = reference(study)
    return next(run for seed in study.seeds if (run := study.run(method, seed)))
