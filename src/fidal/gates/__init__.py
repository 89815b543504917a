"""The gate: density x threshold -> who is kept, with what weight, and a diagnosis."""

from fidal.gates.densities import DENSITIES
from fidal.gates.gate import Gate, GateDecision
from fidal.gates.thresholds import THRESHOLDS

__all__ = ["DENSITIES", "THRESHOLDS", "Gate", "GateDecision"]
