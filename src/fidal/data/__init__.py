"""Benchmarks: what images there are, where, with which labels, and their decoded pixels.

A new one is its own file and one line here.
"""

from collections.abc import Mapping

from fidal.data.benchmark import Source
from fidal.data.fedham import FedHam
from fidal.data.folder import Folder
from fidal.data.phantom import Phantom
from fidal.data.prepared import FedCamelyon, FedEmbed, FedIsic

BENCHMARKS: Mapping[str, type[Source]] = {
    source.name: source for source in (FedIsic, FedCamelyon, FedEmbed, FedHam, Folder, Phantom)
}
