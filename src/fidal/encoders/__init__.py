"""Frozen encoders g(x) by name, and the cache of what they say about each image.

A new one is its own file and one line here.
"""

from collections.abc import Mapping

from fidal.encoders.any_timm import TimmEncoder
from fidal.encoders.base import Encoder
from fidal.encoders.biomedclip import BiomedClip
from fidal.encoders.chief import Chief
from fidal.encoders.mammo_clip import MammoClip
from fidal.encoders.onnx_file import OnnxFile
from fidal.encoders.panderm import PanDerm
from fidal.encoders.scattering import Scattering

ENCODERS: Mapping[str, type[Encoder]] = {
    part.name: part
    for part in (PanDerm, Chief, MammoClip, BiomedClip, TimmEncoder, OnnxFile, Scattering)
}
