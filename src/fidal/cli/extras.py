"""Parts of fidal that need more than its core."""

from collections.abc import Iterator
from contextlib import contextmanager

from fidal.experiment.config import ConfigError


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Around an import: says which extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigError(f"{error}; install 'fidal[{extra}]'") from error
