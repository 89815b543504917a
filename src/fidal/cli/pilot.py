"""`fidal pilot`: which gate fits these pools, and where to look for the lambdas."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from fidal.cli.options import Cache, Config, Json, Settings, experiments_of
from fidal.cli.table import print_table
from fidal.pilot.figure import draw
from fidal.pilot.histogram import drawn, histogram
from fidal.pilot.pools import site_pools
from fidal.pilot.recommendation import LAMBDA_DIV, Recommendation, recommend
from fidal.pilot.tables import BASES, auroc_lines, csv_of, gate_lines, json_of
from fidal.pilot.trials import SiteTrials, try_gates
from fidal.report.export import png
from fidal.storage import write_atomic

HEADS: Final = {
    "labels": "By the labelled warm-up alone, cross-fitted: what a consortium can know",
    "truth": "By the labels of all candidates: what only a benchmark knows",
}


def pilot(
    config: Config,
    settings: Settings = None,
    out: Annotated[
        Path | None, typer.Option(help="folder for pilot.png and pilot.csv; none if not given")
    ] = None,
    cache: Cache = Path("cache"),
    as_json: Json = False,
) -> None:
    """One warm-up round, then every gate at every site: what it catches, what it loses, and which
    gate and lambdas are recommended. Nothing is trained.
    """
    experiments = experiments_of(config, settings)
    if len(experiments) > 1 and not as_json:
        print(f"of the {len(experiments)} runs in [sweep] the data of the first is looked at")
    sites = [try_gates(pool) for pool in site_pools(experiments[0], cache)]
    found = [each for basis in BASES if (each := recommend(sites, basis))]
    if out is not None:
        _write(out, sites, found)
    if as_json:
        print(json.dumps(json_of(sites, found)))
    else:
        _show(Console(), sites, found)


def _write(out: Path, sites: Sequence[SiteTrials], found: Sequence[Recommendation]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    write_atomic(out / "pilot.csv", csv_of(sites).encode())
    if found:
        write_atomic(out / "pilot.png", png(draw(sites, found[0])))


def _show(console: Console, sites: Sequence[SiteTrials], found: Sequence[Recommendation]) -> None:
    for site in sites:
        pool = site.pool
        print(
            f"{pool.site}: {len(pool.candidates)} candidates; labelled {len(pool.labelled)} ID, "
            f"{len(pool.outliers)} OOD"
        )
    for each in found:
        print(f"\n{HEADS[each.basis]}.\nOOD caught / ID lost (%); cost 1 = 10 % missed or 2 % lost")
        print_table(console, *gate_lines(sites, each.basis))
    print("\nAUROC of G, ID against OOD, by the labels" + (" (in truth)" if len(found) > 1 else ""))
    print_table(console, *auroc_lines(sites))
    if found:
        _picture(sites, found[0])
    if not any(each.basis == "labels" for each in found):
        print(
            "\nNo site has ten labelled ID images, so none can judge a gate: label more, at random"
        )
    for each in found:
        _say(each)


def _picture(sites: Sequence[SiteTrials], chosen: Recommendation) -> None:
    """G of the chosen density, and what its gate has to say of itself."""
    score = chosen.score
    print(f"\nG of the candidates, 0 to 1, density {score.density}")
    for site in sites:
        if score.density in site.signals:
            print(f"|{drawn(histogram(site, score.density))}| {site.pool.site}")
    for trial in (trial for site in sites for trial in site.trials):
        if (trial.density, trial.threshold) == (score.density, score.threshold):
            for flag in trial.flags:
                print(f"{trial.site}: {flag}")


def _say(chosen: Recommendation) -> None:
    low, high = chosen.lambda_ood
    print(f"\nRecommended by the {chosen.basis}")
    print(f"  gate        {chosen.score.density} x {chosen.score.threshold}")
    print(f"  lambda_ood  {low:g} to {high:g}: {chosen.reason}")
    for strategy, (low, high) in LAMBDA_DIV.items():
        print(f"  lambda_div  {low:g} to {high:g} for {strategy}, whatever the gate")
    print(f"\n{chosen.toml}", end="")
