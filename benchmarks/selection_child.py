"""One case of `selection.py` in a process of its own; the last line it prints is JSON.

python benchmarks/selection_child.py FOLDER CASE BUDGET DEVICE LIMIT
"""

import json
import resource
import sys
import time
from pathlib import Path

import torch

MIB = 2**20


def cpu_seconds() -> float:
    """User and system time of this process, all its threads together."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def memory(field: str) -> float:
    """MiB of this process that are resident now (VmRSS), or were at most (VmHWM)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise OSError(f"no {field} in /proc/self/status: this benchmark needs Linux")


def forget_peak() -> None:
    """Let VmHWM start again from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def limit_cpu(seconds: float) -> None:
    """Have the kernel end this process after so many CPU seconds more."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds() + seconds) + 1, -1))


def main(folder: Path, case: str, budget: int, device: str, limit: float) -> dict[str, float]:
    """CPU and wall seconds, and the peak memory: all of it, beyond imports, beyond the inputs."""
    import selection_cases

    if case.startswith("scikit-activeml"):
        import skactiveml.pool  # noqa: F401  an import is an import, on either side

    torch.set_num_threads(2)
    imported = memory("VmRSS")
    with torch.no_grad():
        selection_cases.prepare(case, folder, 5, device, first=300)()  # lazy imports, thread pools
        run = selection_cases.prepare(case, folder, budget, device)
        start_peak, loaded = memory("VmHWM"), memory("VmRSS")
        forget_peak()
        limit_cpu(limit)
        if device == "cuda":
            torch.cuda.reset_peak_memory_stats()
            loaded_gpu = torch.cuda.memory_allocated()
        cpu, wall = cpu_seconds(), time.perf_counter()
        run()
        if device == "cuda":
            torch.cuda.synchronize()
        cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    peak = memory("VmHWM")
    measured = {
        "cpu": cpu,
        "wall": wall,
        "total": max(start_peak, peak),
        "beyond_imports": peak - imported,
        "beyond_inputs": peak - loaded,
    }
    if device == "cuda":
        measured["beyond_inputs"] = (torch.cuda.max_memory_allocated() - loaded_gpu) / MIB
    return measured


if __name__ == "__main__":
    folder, case, budget, device, limit = sys.argv[1:]
    print(json.dumps(main(Path(folder), case, int(budget), device, float(limit))))
