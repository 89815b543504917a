"""Many experiments from one TOML file, and the processes that run them (docs/sweeps.md)."""

from fidal.experiment.sweep.expansion import expand

__all__ = ["expand"]
