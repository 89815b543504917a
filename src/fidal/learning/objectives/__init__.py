"""Training objectives by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.learning.objectives.base import Objective
from fidal.learning.objectives.cross_entropy import CrossEntropy
from fidal.learning.objectives.detector import Detector
from fidal.learning.objectives.eoal import EOALObjective
from fidal.learning.objectives.evidential import Evidential
from fidal.learning.objectives.pal import PALObjective

OBJECTIVES: Mapping[str, type[Objective]] = {
    part.name: part
    for part in (
        CrossEntropy,
        Evidential,
        Detector,
        EOALObjective,
        PALObjective,
    )
}
