"""Training objectives by name. A new one is its own file and one line here."""

from collections.abc import Mapping

from fidal.learning.objectives.base import Objective
from fidal.learning.objectives.cross_entropy import CrossEntropy

OBJECTIVES: Mapping[str, type[Objective]] = {part.name: part for part in (CrossEntropy,)}
