"""Measures one case in a process of its own: seconds, and the peak of its resident memory.

python benchmarks/selection_measure.py FOLDER CASE BUDGET DEVICE LIMIT   prints one line of JSON
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MIB = 2**20
THREADS = 2
QUIET = {
    "OMP_NUM_THREADS": str(THREADS),
    "OPENBLAS_NUM_THREADS": str(THREADS),
    "OMP_WAIT_POLICY": "PASSIVE",
    "OPENBLAS_THREAD_TIMEOUT": "4",
}
"""Threads without work sleep at once: a spinning one would be charged for CPU seconds."""
LONG = 30.0
"""CPU seconds from which a case is not run again."""


@dataclass(frozen=True)
class Measured:
    """The best of a case's runs, or in words why there is none."""

    seconds: float = float("inf")
    """CPU seconds; wall seconds on a GPU."""
    total: float = 0.0
    """Peak of resident memory, MiB."""
    beyond_imports: float = 0.0
    beyond_inputs: float = 0.0
    """On a GPU: of the GPU's memory."""
    failure: str = ""


def measure(cases: list[str], folder: Path, options: argparse.Namespace) -> dict[str, Measured]:
    """All cases in turn, `options.repeats` times, so that a busy minute hits none in particular."""
    best: dict[str, Measured] = {}
    for turn in range(options.repeats):
        for case in cases:
            known = best.get(case)
            if known and (known.failure or known.seconds > LONG):
                continue
            found = run_apart(case, folder, options)
            print(f"[{turn + 1}/{options.repeats}] {case}: {found}", file=sys.stderr, flush=True)
            if known is None or found.seconds < known.seconds:
                best[case] = found
    return best


def run_apart(case: str, folder: Path, options: argparse.Namespace) -> Measured:
    """One run of a case in a fresh process."""
    device = options.device if case.startswith("ours/") else "cpu"
    arguments = [str(folder), case, str(options.budget), device, str(options.limit)]
    child = subprocess.run(
        [sys.executable, __file__, *arguments],
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        check=False,
    )
    if child.returncode == -signal.SIGXCPU:
        return Measured(seconds=options.limit, failure=f"> {options.limit:.0f}")
    if child.returncode:
        return Measured(failure=child.stderr.strip().splitlines()[-1])
    return Measured(**json.loads(child.stdout.splitlines()[-1]))


def cpu_seconds() -> float:
    """User and system time of this process, all its threads together."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def resident(field: str) -> float:
    """MiB of this process that are resident now (VmRSS), or were at most (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise OSError(f"no {field} in /proc/self/status: this benchmark needs Linux")


def forget_peak() -> None:
    """Let VmHWM start again from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def run_here(folder: Path, case: str, budget: int, device: str, limit: float) -> Measured:
    """Prepare the case, warm up on a few rows, run it once, and have it killed at the limit."""
    import torch
    from selection_cases import prepare

    if case.startswith("scikit-activeml"):
        import skactiveml.pool  # noqa: F401  imports are not what is measured, on either side

    torch.set_num_threads(THREADS)
    imported = resident("VmRSS")
    with torch.no_grad():
        prepare(case, folder, 5, device, first=300)()
        run = prepare(case, folder, budget, device)
        loaded, before = resident("VmRSS"), resident("VmHWM")
        forget_peak()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds() + limit) + 1, -1))
        seconds, beyond = timed(run) if device == "cpu" else timed_on_gpu(run)
    peak = resident("VmHWM")
    return Measured(
        seconds=seconds,
        total=max(before, peak),
        beyond_imports=peak - imported,
        beyond_inputs=peak - loaded if beyond is None else beyond,
    )


def timed(run: Callable[[], object]) -> tuple[float, float | None]:
    cpu = cpu_seconds()
    run()
    return cpu_seconds() - cpu, None


def timed_on_gpu(run: Callable[[], object]) -> tuple[float, float | None]:
    import torch

    torch.cuda.reset_peak_memory_stats()
    loaded, start = torch.cuda.memory_allocated(), time.perf_counter()
    run()
    torch.cuda.synchronize()
    return time.perf_counter() - start, (torch.cuda.max_memory_allocated() - loaded) / MIB


if __name__ == "__main__":
    folder, case, budget, device, limit = sys.argv[1:]
    found = run_here(Path(folder), case, int(budget), device, float(limit))
    print(json.dumps(vars(found)))
