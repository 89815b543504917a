"""Frozen encoders g(x) by name, and the cache of what they say about each image.

A new one is its own file and one line here.
"""

from collections.abc import Mapping

from fidal.encoders.base import Encoder
from fidal.encoders.scattering import Scattering

ENCODERS: Mapping[str, type[Encoder]] = {part.name: part for part in (Scattering,)}
