"""From the downloads of a benchmark to a folder that every run reads: manifest and pixels.

A new benchmark is a collector and one line here.
"""

from collections.abc import Mapping

from fidal.data.preparing.collected import Collector

COLLECTORS: Mapping[str, type[Collector]] = {}
