"""Query strategies by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.strategies.badge import Badge
from fidal.strategies.base import Strategy
from fidal.strategies.coreset import CoreSet
from fidal.strategies.entropy import Entropy
from fidal.strategies.eoal import EOAL
from fidal.strategies.feal import FEAL
from fidal.strategies.fidal import Fidal
from fidal.strategies.fidal_paper import FidalPaper
from fidal.strategies.herding import Herding
from fidal.strategies.lfosa import LfOSA
from fidal.strategies.logo import LoGo
from fidal.strategies.margin import Margin
from fidal.strategies.openpath import OpenPath
from fidal.strategies.pal import PAL
from fidal.strategies.random import Random
from fidal.strategies.typiclust import TypiClust

STRATEGIES: Mapping[str, type[Strategy]] = {
    part.name: part
    for part in (
        Random,
        Entropy,
        Margin,
        FEAL,
        LoGo,
        TypiClust,
        Herding,
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
