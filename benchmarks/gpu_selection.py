"""Selection on a large pool on a GPU: seconds, memory, and whether the choice is exact; a part of
`gpu_check.py`.
"""

import argparse
import cProfile
import pstats
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from made_pool import made
from torch import Tensor

from fidal.neighbours import support as kernel
from fidal.neighbours.similarity import max_similarity, unit
from fidal.neighbours.support import support_count
from fidal.strategies import STRATEGIES

BUDGET = 500
GIB = 2**30


def timed(run: Callable[[], object], repeats: int = 3) -> tuple[float, float]:
    """Median seconds, and GiB beyond what was allocated before."""
    run()
    spent = []
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        torch.cuda.synchronize()
        spent.append(time.perf_counter() - start)
    return float(np.median(spent)), (torch.cuda.max_memory_allocated() - before) / GIB


def support(options: argparse.Namespace) -> str:
    """Asked: 0.6 s at 198,000 x 205,000, d = 1280, exact in the chosen set."""
    pool = made(options.candidates, options.labelled, options.width)
    u, known = unit(pool.features), unit(pool.labelled.features)
    threshold = 0.8 * max_similarity(u, known)
    ceilings(u)
    exact = in_float64(u, known, threshold)
    best = (float("inf"), "")
    for halves in (True, False):
        kernel.HALVES = halves  # type: ignore[misc]
        for side in (4096, 8192, 16384) if halves else (8192,):
            kernel.GPU_BLOCK = side  # type: ignore[misc]
            seconds, memory = timed(lambda: support_count(u, known, threshold))
            count = support_count(u, known, threshold)
            sample = len(exact)
            off = (count[:sample] - exact).abs()
            line = (
                f"halves {halves}, block {side}: {seconds:.3f} s, {memory:.2f} GiB; of {sample} "
                f"candidates {int((off > 0).sum())} counts differ from float64's, by at most "
                f"{int(off.max())} of {float(exact.double().mean()):.0f}"
            )
            print(line, flush=True)
            best = min(best, (seconds, line))
    kernel.HALVES, kernel.GPU_BLOCK = True, 8192  # type: ignore[misc]
    return best[1]


def ceilings(u: Tensor) -> None:
    """What bare products of one block take, in TFLOP/s."""
    rows = u[:8192]
    out = torch.empty(len(rows), len(rows), device="cuda")
    work = 2 * len(rows) ** 2 * u.shape[1] / 1e12
    plain, _ = timed(lambda: torch.mm(rows, rows.T, out=out), 10)
    both = (kernel.left(rows), kernel.right(rows))
    halves, _ = timed(lambda: kernel.multiply(*both, out), 10)
    split, _ = timed(lambda: kernel.right(rows), 10)
    mask = torch.empty_like(out, dtype=torch.bool)
    compare, _ = timed(lambda: torch.gt(out, rows[:, :1], out=mask), 10)
    by_row, _ = timed(lambda: mask.sum(1), 10)
    by_column, _ = timed(lambda: mask.sum(0), 10)
    print(
        f"8192 x 8192 x {u.shape[1]}: float32 {work / plain:.0f} TFLOP/s, halves "
        f"{3 * work / halves:.0f} ({halves * 1e3:.2f} ms); split {split * 1e3:.2f} ms, compare "
        f"{compare * 1e3:.2f}, sum by row {by_row * 1e3:.2f}, by column {by_column * 1e3:.2f}",
        flush=True,
    )


def in_float64(u: Tensor, known: Tensor, threshold: Tensor, sample: int = 4096) -> Tensor:
    """Eq. 6 of the first candidates, in float64."""
    rows = u[:sample].double()
    count = torch.zeros(len(rows), dtype=torch.int64, device="cuda")
    for everyone in (u, known):
        for part in torch.split(everyone, 16_384):
            count += (rows @ part.double().T > threshold[:sample, None].double()).sum(1)
    return count


def query(options: argparse.Namespace) -> str:
    """Asked: FIDAL's whole query in 2 s and 2 GiB beyond its inputs; the set as in float32."""
    pool = made(options.candidates, options.labelled, options.width)
    strategy = STRATEGIES["fidal"]()

    def run() -> tuple[str, ...]:
        return strategy.select(pool, BUDGET, np.random.default_rng(0)).ids

    seconds, memory = timed(run)
    ids = run()
    profile = cProfile.Profile()
    profile.runcall(run)
    pstats.Stats(profile, stream=sys.stdout).sort_stats("cumulative").print_stats(30)
    kernel.HALVES = False  # type: ignore[misc]
    plain = run()
    kernel.HALVES = True  # type: ignore[misc]
    same = len(set(ids) & set(plain))
    line = (
        f"whole query {seconds:.2f} s, {memory:.2f} GiB beyond inputs; {same} of {len(ids)} chosen "
        f"as with float32 counts, order {'the same' if ids == plain else 'differs'}"
    )
    print(line, flush=True)
    return line


def seeding(options: argparse.Namespace) -> str:
    """Asked: 2 s for 500 of 200,000 x 512."""
    pool = made(200_000, 2_000, 512)
    lines = []
    for name in ("badge", "coreset", "typiclust", "herding"):
        strategy = STRATEGIES[name]()
        seconds, memory = timed(
            lambda s=strategy: s.select(pool, BUDGET, np.random.default_rng(0)),  # type: ignore[misc]
            repeats=1,
        )
        lines.append(f"{name} {seconds:.2f} s {memory:.2f} GiB")
        print(lines[-1], flush=True)
    return "; ".join(lines)
