"""How long a query takes and what memory it needs, beside the peers.

python benchmarks/selection.py                       everything; scikit-activeml takes half an hour
python benchmarks/selection.py --only badge coreset  some strategies and what they are held against
python benchmarks/selection.py --markdown            as in docs/performance.md

Each case runs in a process of its own, on the same arrays, with two threads. CPU seconds, not wall
seconds, because machines are shared; threads without work sleep instead of spinning, on either
side, since spinning would count as work. Cases take turns, and of several runs the best counts.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import selection_arrays as arrays
from rich.console import Console
from rich.table import Table
from selection_measure import Measured, measure
from selection_sample import effect_of_sampling

from fidal.strategies import STRATEGIES

PEERS = ("random", "entropy", "margin", "badge", "coreset", "typiclust", "herding")
"""Strategies that scikit-activeml has as well."""
BASELINES = {"fidal": "plain/products", "fidal-paper": "plain/products", "feal": "plain/walk"}
ASKED = {"badge": 25, "coreset": 6, "typiclust": 20, "herding": 20, "feal": 5, "fidal": 1 / 1.3}
"""How many times faster than its rival a strategy is asked to be."""

Rows = list[list[str]]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=list(STRATEGIES), help="default: all")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu", help="of ours")
    parser.add_argument("--candidates", type=int, default=20_000)
    parser.add_argument("--labelled", type=int, default=2_000)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--scale", type=int, default=200_000, help="candidates of the large pool")
    parser.add_argument("--repeats", type=int, default=3, help="of cases below 30 CPU seconds")
    parser.add_argument("--limit", type=float, default=300, help="CPU seconds allowed to a case")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    return parser.parse_args()


def main() -> None:
    options = parse()
    chosen = options.only or list(STRATEGIES)
    with TemporaryDirectory() as name:
        folder = Path(name)
        arrays.write(folder, options.candidates, options.labelled, options.width)
        speed(chosen, folder, options)
        if "fidal" in chosen:
            sampling(folder, options)
    if "fidal" in chosen and options.scale:
        large_pool(options)


def rival(strategy: str) -> str | None:
    """The case that a strategy is held against."""
    peer = f"scikit-activeml/{strategy}" if strategy in PEERS else None
    return BASELINES.get(strategy, peer)


def speed(chosen: list[str], folder: Path, options: argparse.Namespace) -> None:
    """Every strategy, and its rival where it has one."""
    rivals = sorted({other for other in map(rival, chosen) if other})
    found = measure([*(f"ours/{name}" for name in chosen), *rivals], folder, options)
    rows = []
    for name in chosen:
        ours, other = found[f"ours/{name}"], rival(name)
        row = [name, seconds(ours), mib(ours.total), mib(ours.beyond_imports)]
        if other:
            theirs = found[other]
            row += [other, seconds(theirs), mib(theirs.beyond_imports), times(ours, theirs)]
        asked = f"{ASKED[name]:.3g}" if name in ASKED else ""
        rows.append([*row, *[""] * (8 - len(row)), asked])
    heads = ["strategy", "s", "peak MiB", "beyond imports", "held against", "s", "beyond imports"]
    size = f"{options.candidates:,} x {options.width}"
    title = f"Selection: {size}, {options.labelled:,} labelled, budget {options.budget}"
    show(title, [*heads, "times faster", "asked"], rows, options)


def sampling(folder: Path, options: argparse.Namespace) -> None:
    """FIDAL's query with a sample of neighbours against the exact one."""
    rows = [
        [
            "all" if effect.sample is None else f"{effect.sample:,}",
            f"{effect.seconds:.3g}",
            f"{effect.jaccard:.3f}",
            f"{effect.worst:.3f}",
            f"{effect.correlation:.4f}",
        ]
        for effect in effect_of_sampling(folder, options.budget)
    ]
    heads = ["neighbours", "s", "Jaccard, mean", "worst of 5", "rank correlation of C_ID"]
    show("FIDAL's neighbour sample: overlap with the exact query", heads, rows, options)


def large_pool(options: argparse.Namespace) -> None:
    """FIDAL on a pool ten times as large: what it needs beyond its inputs."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        arrays.write(folder, options.scale, options.labelled, options.width)
        once = argparse.Namespace(**{**vars(options), "repeats": 1, "limit": 7200})
        found = measure(["ours/fidal"], folder, once)["ours/fidal"]
    row = [f"{options.scale:,}", seconds(found), mib(found.beyond_inputs), "1,024"]
    heads = ["candidates", "s", "peak MiB beyond inputs", "allowed"]
    show("FIDAL on a large pool", heads, [row], options)


def times(ours: Measured, theirs: Measured) -> str:
    """How many times faster ours is; at least so many where theirs was stopped at the limit."""
    ratio = theirs.seconds / ours.seconds
    return f"{'> ' if theirs.failure else ''}{ratio:.3g}" if 0 < ratio < float("inf") else ""


def seconds(found: Measured) -> str:
    return found.failure or f"{found.seconds:.3g}"


def mib(amount: float) -> str:
    return f"{amount:,.0f}" if amount else ""


def show(title: str, heads: list[str], rows: Rows, options: argparse.Namespace) -> None:
    if options.markdown:
        lines = [heads, ["---"] * len(heads), *rows]
        print(f"\n{title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines), flush=True)
        return
    table = Table(*heads, title=title)
    for row in rows:
        table.add_row(*row)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
