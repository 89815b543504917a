"""From the downloads of a benchmark to a folder that every run reads: manifest and pixels.

A new benchmark is a collector and one line here.
"""

from collections.abc import Mapping

from fidal.data.preparing.collected import Collector
from fidal.data.preparing.fedcamelyon import FedCamelyonCollector
from fidal.data.preparing.fedembed import FedEmbedCollector
from fidal.data.preparing.fedisic import FedIsicCollector

COLLECTORS: Mapping[str, type[Collector]] = {
    collector.name: collector
    for collector in (FedIsicCollector, FedCamelyonCollector, FedEmbedCollector)
}
