"""Thresholds by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.gates.thresholds.base import Threshold
from fidal.gates.thresholds.gmm import Gmm
from fidal.gates.thresholds.guarded_otsu import GuardedOtsu
from fidal.gates.thresholds.kde_valley import KdeValley
from fidal.gates.thresholds.known_null import KnownNull
from fidal.gates.thresholds.otsu import Otsu
from fidal.gates.thresholds.percentile import Percentile

THRESHOLDS: Mapping[str, type[Threshold]] = {
    part.name: part for part in (Otsu, GuardedOtsu, Percentile, Gmm, KdeValley, KnownNull)
}
