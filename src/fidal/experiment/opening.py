"""A site of an experiment: its data, its folder, and who answers there."""

from pathlib import Path

from fidal.data.sites import SiteData
from fidal.experiment.before import check_labels
from fidal.experiment.config import Experiment
from fidal.site.ledger import Ledger
from fidal.site.oracle import GroundTruth, Oracle
from fidal.site.site import Setup, Site


def open_site(experiment: Experiment, data: SiteData, oracle: Oracle, folder: Path) -> Site:
    """With the ledger in `folder`, made if there is none."""
    setup = Setup(
        federation=experiment.run_name,
        seed=experiment.seed,
        architecture=experiment.network,
        training=experiment.training,
        strategy=experiment.strategy,
        candidates=experiment.candidates,
        discarding=experiment.discarding,
    )
    path = folder / "ledger.sqlite"
    ledger = Ledger.open(path, federation=experiment.run_name, site=data.site)
    return Site(data, setup, ledger, oracle, folder)


def simulated_expert(experiment: Experiment, data: SiteData) -> Oracle:
    """Reads answers off the labels, and errs in the share that the experiment says."""
    check_labels(data)
    labels = dict(zip(data.ids, data.labels.tolist(), strict=True))
    return GroundTruth(labels, len(data.classes), experiment.oracle_error, experiment.seed)
