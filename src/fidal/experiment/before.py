"""What must hold before a run begins or goes on: found out now, not after hours of training."""

from typing import Final

from fidal.data.benchmark import Benchmark, Source
from fidal.data.sites import SiteData
from fidal.experiment.config import ConfigError
from fidal.federation.messages import QueryReply
from fidal.parts import nearest
from fidal.site.ledger import Ledger
from fidal.storage import StateError
from fidal.strategies.base import Strategy
from fidal.types import UNLABELLED

FROM_DATA: Final = {
    "coverage": "set benchmark.encoder or benchmark.embeddings",
    "prompts": "set benchmark.prompts",
}
"""The optional fields of a `Pool` that come from the benchmark, and where to get them."""


def check_needs(strategy: Strategy, benchmark: Benchmark) -> None:
    """The benchmark has what the strategy looks at."""
    for field, way_out in FROM_DATA.items():
        if field in strategy.required() and getattr(benchmark, field) is None:
            raise ConfigError(
                f"strategy '{strategy.name}' needs {field}, and benchmark '{benchmark.name}' as "
                f"configured has none; {way_out}, or choose another strategy"
            )


def check_sites(discarding: tuple[str, ...], benchmark: Benchmark) -> None:
    """Who keeps no outliers takes part."""
    for site in discarding:
        if site not in benchmark.manifest.sites:
            known = list(benchmark.manifest.sites)
            raise ConfigError(f"discarding: unknown site '{site}'; {nearest(site, known)}")


def needed(source: Source, strategy: Strategy) -> Source:
    """The source without prompts if the strategy looks at none: they need a whole model more."""
    if "prompts" in strategy.required() or getattr(source, "prompts", None) is None:
        return source
    return source.model_copy(update={"prompts": None})


def check_labels(data: SiteData) -> None:
    """The simulated expert reads answers off the benchmark."""
    unknown = int((data.labels[data.train] == UNLABELLED).sum())
    if unknown:
        raise ConfigError(
            f"site '{data.site}': {unknown} of {len(data.train)} training images have no label, "
            "and a simulated expert can't make one up; label them or leave them out"
        )


def check_ledger(ledger: Ledger, queried: QueryReply | None) -> None:
    """A worklist is on the disk before the state that knows of it."""
    if queried is not None and ledger.worklist(queried.round) is None:
        raise StateError(
            f"site '{ledger.site}': ledger {ledger.path} has no round {queried.round}, which the "
            "run has; put back a copy of it, or start the run in a new folder"
        )
