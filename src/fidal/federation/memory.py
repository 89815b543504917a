"""Peak memory of one stretch of work, on the device that does it."""

import resource
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

import torch

STATUS: Final = Path("/proc/self/status")
FORGET: Final = Path("/proc/self/clear_refs")
"""Linux: writing 5 sets the peak of the process to what it holds now."""


def forget_peak(device: torch.device) -> None:
    """What comes next is measured on its own."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
    else:
        with suppress(OSError):
            FORGET.write_text("5")


def peak_bytes(device: torch.device) -> int:
    """Of the GPU, or of this process, since `forget_peak`; since the process began where the
    system does not forget.
    """
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        lines = STATUS.read_text().splitlines()
        (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
        return int(kilobytes) * 1024
    except (OSError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
