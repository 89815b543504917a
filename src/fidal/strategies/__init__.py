"""Query strategies by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.strategies.base import Strategy
from fidal.strategies.random import Random

STRATEGIES: Mapping[str, type[Strategy]] = {part.name: part for part in (Random,)}
