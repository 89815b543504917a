"""What a round trip between machines costs beyond computing: Flower's engine beside in-process.

python benchmarks/federation.py                     3 to 16 sites, 20 MB of weights
python benchmarks/federation.py --sites 3           one number of sites
python benchmarks/federation.py --markdown          as in docs/deploy.md

A round trip is a training request with weights to every site and a reply with weights from each.
Sites have no labelled image, so nothing is trained: all of it is overhead. SuperLink, SuperNodes,
sites and coordinator are processes of this machine and share its cores, with TLS, keys, audit logs
and all. A row has the best and the median of the round trips; the first one, which connects, is
left out. CPU seconds are of all processes together and do not depend on what else is running.
"""

import argparse
import os
import statistics
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from federation_machines import FEDERATION, STAMP, Machines, machines, make_site
from flwr.serverapp import Grid
from tables import show

from fidal.federation.engine import Engine
from fidal.federation.flower.engine import Flower
from fidal.federation.flower.quiet import silence
from fidal.federation.flower.superlink import serve
from fidal.federation.inprocess import InProcess
from fidal.federation.messages import StatusRequest, TrainReply, TrainRequest, Weights
from fidal.federation.weights import pack
from fidal.learning.networks import build
from fidal.site.site import Site

HEADS = ["engine", "sites", "best s", "median s", "status s", "CPU s", "of it SuperLink"]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sites", type=int, nargs="+", default=[3, 4, 8, 16])
    parser.add_argument("--megabytes", type=float, default=20.0)
    parser.add_argument("--trips", type=int, default=6)
    parser.add_argument("--markdown", action="store_true", help="print the table in Markdown")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    rows = []
    for n in options.sites:
        with tempfile.TemporaryDirectory() as folder:
            rows += measure(Path(folder), n, options)
    cores = len(os.sched_getaffinity(0))
    title = f"A round trip with {options.megabytes:g} MB of weights, {cores} cores"
    show(title, HEADS, rows, options.markdown)


def measure(folder: Path, n: int, options: argparse.Namespace) -> list[list[str]]:
    """Two rows: in process, and between machines."""
    silence(folder / "flower")
    names = tuple(f"site{k}" for k in range(n))
    near = [make_site(name, folder / "near" / name, options.megabytes) for name in names]
    weights = _weights(near[0])
    rows = [["in process", str(n), *_trips(InProcess(near), weights, options.trips, None)]]
    with machines(folder / "far", names, options.megabytes) as made:

        def drive(grid: Grid) -> None:
            far = Flower(grid, names, STAMP)
            rows.append(["Flower", str(n), *_trips(far, weights, options.trips, made)])

        serve(made.link, drive)
    return rows


def _trips(engine: Engine, weights: Weights, trips: int, made: Machines | None) -> list[str]:
    seconds, status, cpu, superlink = [], [], [], []
    for trip in range(trips + 1):
        sent = replace(weights, flat=weights.flat + trip)
        request = TrainRequest(FEDERATION, 0, 0, 1, sent)
        before, begun, used = _cpu(made), time.perf_counter(), time.process_time()
        replies = engine.broadcast(dict.fromkeys(engine.sites, request))
        seconds.append(time.perf_counter() - begun)
        assert all(isinstance(reply, TrainReply) for reply in replies.values()), replies
        after = _cpu(made)
        cpu.append(
            sum(after.values()) - sum(before.values()) if made else time.process_time() - used
        )
        superlink.append(after.get("SuperLink", 0.0) - before.get("SuperLink", 0.0))
        begun = time.perf_counter()
        engine.broadcast(dict.fromkeys(engine.sites, StatusRequest(FEDERATION, 0)))
        status.append(time.perf_counter() - begun)
    numbers = [
        min(seconds[1:]),
        statistics.median(seconds[1:]),
        min(status[1:]),
        statistics.median(cpu[1:]),
        statistics.median(superlink[1:]),
    ]
    return [f"{x:.2f}" for x in numbers]


def _cpu(made: Machines | None) -> dict[str, float]:
    return made.cpu() if made else {}


def _weights(site: Site) -> Weights:
    setup = site.setup
    objective = setup.strategy.objective
    network = build(setup.architecture, site.feed.shape, len(site.data.classes), objective, 0)
    return pack(network.state_dict())


if __name__ == "__main__":
    main()
