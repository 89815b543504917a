"""What of the machine one of several processes gets: threads, and a GPU."""

import os
from collections.abc import Mapping

import torch


def cores() -> int:
    """That this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def gpus() -> list[str]:
    """As CUDA_VISIBLE_DEVICES names them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None:
        return [name.strip() for name in named.split(",") if name.strip()]
    return [str(number) for number in range(torch.cuda.device_count())]


def share(slot: int, jobs: int, cores: int, gpus: list[str]) -> Mapping[str, str]:
    """The environment of the process in one of `jobs` slots, 0, 1, ...

    Several processes with as many threads as there are cores each would wait for one another at
    every step. A number of threads that somebody has set holds for every process.
    """
    threads = os.environ.get("OMP_NUM_THREADS") or str(max(1, cores // jobs))
    environment = {"OMP_NUM_THREADS": threads}
    if gpus:
        environment["CUDA_VISIBLE_DEVICES"] = gpus[slot % len(gpus)]
    return environment
