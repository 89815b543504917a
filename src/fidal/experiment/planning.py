"""What a coordinator needs of an experiment: its plan, and the weights that a round begins with."""

from collections.abc import Callable

from fidal.experiment.config import ConfigError, Experiment
from fidal.federation.engine import Engine
from fidal.federation.messages import StatusReply, StatusRequest, Weights
from fidal.federation.state import FOR_ALL, Patience, Plan
from fidal.federation.weights import pack
from fidal.learning.networks import build
from fidal.seeds import seed_of


def make_plan(experiment: Experiment, engine: Engine, patience: Patience = FOR_ALL) -> Plan:
    """Where the budget is a share of a site's images, the site is asked how many it has."""
    return Plan(
        federation=experiment.run_name,
        rounds=experiment.rounds,
        budgets=experiment.budgets(_images(experiment, engine, patience)),
        steps=experiment.training.rounds,
        reinitialise=experiment.training.reinitialise,
        patience=patience,
    )


def fresh_weights(
    experiment: Experiment, shape: tuple[int, ...], classes: int
) -> Callable[[int], Weights]:
    """The initial weights of each round's network, for inputs of this shape."""

    def fresh(round: int) -> Weights:
        seed = seed_of(experiment.seed, "network", round)
        objective = experiment.strategy.objective
        return pack(build(experiment.network, shape, classes, objective, seed).state_dict())

    return fresh


def _images(experiment: Experiment, engine: Engine, patience: Patience) -> dict[str, int]:
    """How many images each site has; 0 where the budget does not depend on it."""
    shares = [
        s for s in engine.sites if experiment.budget_of(s, 0) != experiment.budget_of(s, 10**9)
    ]
    request = StatusRequest(experiment.run_name, 0)
    replies = engine.broadcast(dict.fromkeys(shares, request), patience.request)
    images = {r.site: r.images for r in replies.values() if isinstance(r, StatusReply)}
    silent = [site for site in shares if site not in images]
    if silent:
        raise ConfigError(
            f"budget: it is a share of the site's images, and {', '.join(silent)} did not say how "
            "many there are; give a number of images, or begin when the site is there"
        )
    return {**dict.fromkeys(engine.sites, 0), **images}
