"""Query strategies by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.strategies.badge import Badge
from fidal.strategies.base import Strategy
from fidal.strategies.coreset import CoreSet
from fidal.strategies.eoal import EOAL
from fidal.strategies.fidal import Fidal
from fidal.strategies.fidal_paper import FidalPaper
from fidal.strategies.lfosa import LfOSA
from fidal.strategies.openpath import OpenPath
from fidal.strategies.pal import PAL
from fidal.strategies.random import Random

STRATEGIES: Mapping[str, type[Strategy]] = {
    part.name: part
    for part in (
        Random,
        Badge,
        CoreSet,
        PAL,
        LfOSA,
        EOAL,
        OpenPath,
        Fidal,
        FidalPaper,
    )
}
