"""What one experiment is: a TOML file read into these fields, each with its default and its doc."""

import copy
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    field_validator,
)

from fidal.data import BENCHMARKS
from fidal.data.benchmark import Source
from fidal.learning.networks import Architecture
from fidal.learning.trainer import Training
from fidal.parts import by_name, explain, nearest
from fidal.strategies import STRATEGIES
from fidal.strategies.base import Strategy

Budget = int | float | dict[str, int | float]


class ConfigError(ValueError):
    """A configuration that can't be run; the message says which field and what to do."""


class Experiment(BaseModel):
    """One run: a benchmark, a network, a strategy, a seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(description="first part of the run folder's name")
    seed: int = Field(default=0, description="everything random in the run is drawn from it")
    rounds: int = Field(default=5, ge=1, description="R: queries after the random warm-up")
    budget: Budget = Field(
        default=50,
        description="B_k: images per site and round; a number, a share below 1 of the site's "
        "training images, or a table with one of both per site",
    )
    candidates: int = Field(
        default=10_000, ge=1, description="at most so many random candidates are scored per query"
    )
    oracle_error: float = Field(
        default=0.0, ge=0, le=1, description="share of wrong ID/OOD answers of the simulated expert"
    )
    discarding: tuple[str, ...] = Field(
        default=(), description="sites that keep no image answered as OOD: nothing learns from it"
    )
    benchmark: Annotated[
        SerializeAsAny[Source], BeforeValidator(by_name("benchmark", BENCHMARKS))
    ] = Field(description="the federation's data")
    network: Architecture = Field(default=Architecture(), description="what is trained")
    training: Training = Field(default=Training(), description="how, between two queries")
    strategy: Annotated[
        SerializeAsAny[Strategy], BeforeValidator(by_name("strategy", STRATEGIES))
    ] = Field(description="what is queried")

    @field_validator("budget")
    @classmethod
    def _number_or_share(cls, budget: Budget) -> Budget:
        for each in budget.values() if isinstance(budget, dict) else [budget]:
            if each < 0:
                raise ValueError(f"{each} must not be negative")
            if not (each < 1 or float(each).is_integer()):
                raise ValueError(f"{each} is neither a whole number nor a share below 1")
        return budget

    @property
    def digest(self) -> str:
        """Twelve hexadecimal digits that name this very configuration."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @property
    def run_name(self) -> str:
        """The name of the run's folder."""
        return f"{self.name}-{self.strategy.name}-s{self.seed}-{self.digest}"

    def budget_of(self, site: str, images: int) -> int:
        """B_k of one site that has so many training images."""
        budget: Any = self.budget
        if isinstance(budget, dict):
            if site not in budget:
                raise ConfigError(f"budget has no entry for site '{site}'; add it to the table")
            budget = budget[site]
        return round(budget * images) if budget < 1 else int(budget)

    def budgets(self, images: Mapping[str, int]) -> dict[str, int]:
        """B_k of every site, given how many training images each has."""
        for site in self.budget if isinstance(self.budget, dict) else ():
            if site not in images:
                raise ConfigError(f"budget.{site}: unknown site; {nearest(site, images)}")
        budgets = {site: self.budget_of(site, n) for site, n in images.items()}
        if not any(budgets.values()):
            raise ConfigError(f"budget {self.budget} is not one image at any site; raise it")
        return budgets


def read_table(path: Path) -> dict[str, Any]:
    """A TOML file as it stands."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"no configuration at {path}") from error
    except ValueError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error


def with_settings(table: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """`a.b=c` from the command line on top of a table; c is TOML, or a string where it is not.

    What is set so is no longer swept.
    """
    table = copy.deepcopy(table)
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise ConfigError(f"--set {setting}: write it as key=value, e.g. strategy.lambda_div=2")
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        if isinstance(table.get("sweep"), dict):
            table["sweep"] = _settled(table["sweep"], key)
        put(table, key, value)
    return table


def _settled(sweep: Mapping[str, Any], key: str) -> dict[str, Any]:
    """The sweep without a key that was set, whose values would be put in its place."""
    axes = flat(sweep)
    for axis in axes:
        if key.startswith(f"{axis}."):
            raise ConfigError(f"--set {key}: [sweep] varies '{axis}'; --set {axis}=... first")
    axes.pop(key, None)
    groups = axes.get("together")
    if isinstance(groups, list):
        axes["together"] = [_settled(g, key) if isinstance(g, dict) else g for g in groups]
    return axes


def flat(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """One entry per value, under its dotted key.

    >>> flat({"seed": [0, 1], "strategy": {"gate": {"density": ["diagonal"]}}})
    {'seed': [0, 1], 'strategy.gate.density': ['diagonal']}
    """
    entries: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            entries |= flat(value, f"{prefix}{key}.")
        else:
            entries[f"{prefix}{key}"] = value
    return entries


def put(table: dict[str, Any], key: str, value: object) -> None:
    """Set a dotted key. A part given by its name alone becomes a table when a field is set."""
    *path, last = key.split(".")
    for word in path:
        inner = table.get(word, {})
        table[word] = {"name": inner} if isinstance(inner, str) else inner
        table = table[word]
        if not isinstance(table, dict):
            raise ConfigError(f"{key}: '{word}' is {table!r} and has no fields")
    if last == "name" and path and table.get("name") != value:
        table.clear()  # another part: the fields of the old one do not belong to it
    table[last] = value


def make_experiment(table: dict[str, Any]) -> Experiment:
    """The experiment of a table; errors name the field, the nearest known key and what is wrong."""
    try:
        return Experiment.model_validate(table)
    except ValidationError as error:
        raise ConfigError(explain(error, Experiment)) from error
