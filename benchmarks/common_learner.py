"""Is it the query or the loss? The images that finished runs had labelled, learned by one learner.

    python benchmarks/common_learner.py runs/main-fedham --out results/common.jsonl

FEAL, PAL, LfOSA and EOAL train with losses of their own. Here their last labelled sets, and
everybody else's, train the plain classifier that the others use, from the same initial weights. A
run that had that loss already comes out as it was, bit for bit.
"""

import argparse
import tempfile
from pathlib import Path

from evidence_rows import experiment_of, method, setting

from fidal.data.sites import SiteData, site_data
from fidal.experiment.config import Experiment
from fidal.experiment.metrics import balanced_accuracy, pooled
from fidal.experiment.records import FEDERATION
from fidal.federation.averaging import federated_average
from fidal.federation.messages import EvaluateRequest, TrainRequest, Weights
from fidal.federation.weights import pack
from fidal.learning.networks import build
from fidal.rows import append, read
from fidal.seeds import seed_of
from fidal.site.ledger import Ledger
from fidal.site.oracle import GroundTruth
from fidal.site.site import Setup, Site
from fidal.strategies import STRATEGIES


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of run folders")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl file, written anew")
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    options = parser.parse_args()
    options.out.unlink(missing_ok=True)
    for runs in options.runs:
        for file in sorted(runs.rglob("config.json")):
            relearn(file.parent, options.cache, options.out)


def relearn(folder: Path, cache: Path, out: Path) -> None:
    experiment = experiment_of(folder)
    last = [row for row in read(folder / "rounds.jsonl") if row["site"] == FEDERATION][-1]
    with tempfile.TemporaryDirectory() as scratch:
        sites = labelled_sites(experiment, folder, cache, Path(scratch))
        common = score(experiment, sites, int(last["round"]))  # type: ignore[arg-type]
        for site in sites:
            site.ledger.close()
    append(
        out,
        {
            "setting": setting(experiment),
            "method": method(experiment),
            "seed": experiment.seed,
            "own": last["bma_pooled"],
            "common": common,
        },
    )


def labelled_sites(experiment: Experiment, folder: Path, cache: Path, scratch: Path) -> list[Site]:
    """The run's clinics with the plain objective; all that was asked, in order, in one round."""
    benchmark = experiment.benchmark.load(cache)
    plain = STRATEGIES["random"]()
    setup = Setup(
        federation="common",
        seed=experiment.seed,
        architecture=experiment.network,
        training=experiment.training,
        strategy=plain,
        candidates=experiment.candidates,
    )
    sites = []
    for name in benchmark.manifest.sites:
        data, own = site_data(benchmark, name), scratch / name
        own.mkdir()
        ledger = Ledger.open(own / "ledger.sqlite", federation="common", site=name)
        answers = answered(folder / "sites" / name / "queries.jsonl")
        ledger.ask(0, tuple(answers))
        ledger.answer_all(answers)
        sites.append(Site(data, setup, ledger, nobody(data), own))
    return sites


def answered(file: Path) -> dict[str, int]:
    pairs = [zip(row["ids"], row["answers"], strict=True) for row in read(file)]  # type: ignore[arg-type]
    return {sample: answer for each in pairs for sample, answer in each}


def nobody(data: SiteData) -> GroundTruth:
    return GroundTruth({}, len(data.classes))


def score(experiment: Experiment, sites: list[Site], round: int) -> float:
    """Pooled BMA after T communication rounds from the initial weights of the run's last round."""
    first, steps = sites[0], experiment.training.rounds
    network = build(
        experiment.network,
        first.feed.shape,
        len(first.data.classes),
        first.setup.strategy.objective,
        seed_of(experiment.seed, "network", round),
    )
    weights: Weights = pack(network.state_dict())
    for step in range(steps):
        replies = [
            site.train(TrainRequest("common", round, step, steps, weights)) for site in sites
        ]
        weights = federated_average(replies, fallback=weights)
    evaluated = [site.evaluate(EvaluateRequest("common", round, weights)) for site in sites]
    return balanced_accuracy(pooled([reply.confusion for reply in evaluated]))


if __name__ == "__main__":
    main()
