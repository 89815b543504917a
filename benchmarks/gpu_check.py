"""Everything that only a GPU can tell, in one call on a lent machine: tests, then numbers.

python benchmarks/gpu_check.py --out FOLDER                 all but selection, about eight minutes
python benchmarks/gpu_check.py --out FOLDER --only support  one part; several may be named

A part that fails prints its traceback and the next one runs. The report of each part goes to
FOLDER/PART.txt as well; a short table comes last.
"""

import argparse
import contextlib
import io
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import gpu_captures
import gpu_selection
import torch

ROOT = Path(__file__).resolve().parent.parent
GPU_TESTS = [
    "tests/learning/test_graphs.py",
    "tests/learning/test_flat.py",
    "tests/federation/test_inprocess.py",
    "tests/neighbours/test_halves.py",
    "tests/neighbours/test_support.py",
    "tests/neighbours/test_seeding.py",
]

Part = Callable[[argparse.Namespace], str]
"""Prints as it goes, and returns one line for the last table."""


def environment(options: argparse.Namespace) -> str:
    properties = torch.cuda.get_device_properties(0)
    free, total = torch.cuda.mem_get_info()
    line = (
        f"{properties.name}, torch {torch.__version__}, Python {sys.version.split()[0]}, "
        f"{free / 2**30:.0f} of {total / 2**30:.0f} GiB free, {torch.get_num_threads()} threads"
    )
    print(line)
    return line


def tests(options: argparse.Namespace) -> str:
    """With pytest where it is carried."""
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "-q", "-rfE", "--tb=short"]
    command += ["-p", "no:cacheprovider", "-o", "addopts=--strict-markers", "--durations=5"]
    found = subprocess.run(
        [*command, *GPU_TESTS],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=options.limit,
        check=False,
    )
    print(found.stdout[-12_000:], found.stderr[-2_000:])
    return (found.stdout.strip().splitlines() or ["pytest did not start"])[-1]


def script(name: str, *arguments: str) -> Part:
    """Another benchmark in a process of its own, so that memory and libraries start anew."""

    def part(options: argparse.Namespace) -> str:
        command = [sys.executable, str(ROOT / "benchmarks" / name), *arguments]
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
        )
        assert child.stdout is not None
        start, lines = time.perf_counter(), []
        for line in child.stdout:
            lines.append(line)
            print(line, end="", flush=True)
            if time.perf_counter() - start > options.limit:
                child.kill()
                print(f"stopped after {options.limit} s")
        code = child.wait()
        return f"exit {code}, {len(lines)} lines"

    return part


BRIEF = ("--seconds", "4", "--markdown")
ONCE = ("badge", "coreset", "--repeats", "1", "--limit", "60", "--markdown")

PARTS: dict[str, Part] = {
    "environment": environment,
    "tests": tests,
    "captures": gpu_captures.report,
    "efficientnet": script("training.py", "--only", "efficientnet_b0", *BRIEF),
    "densenet": script("training.py", "--only", "densenet121", *BRIEF),
    "support": gpu_selection.support,
    "query": gpu_selection.query,
    "seeding": gpu_selection.seeding,
    "scaling": script("scaling.py", "--quick", "--markdown"),
    "selection": script("selection.py", "--device", "cuda", "--only", "fidal", *ONCE),
}


class Tee(io.TextIOBase):
    """Prints to two places."""

    def __init__(self, *files: io.TextIOBase) -> None:
        self._files = files

    def write(self, text: str) -> int:
        for file in self._files:
            file.write(text)
            file.flush()
        return len(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the full reports")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), help="default: all")
    parser.add_argument("--limit", type=float, default=240, help="seconds of a child process")
    parser.add_argument("--candidates", type=int, default=198_000)
    parser.add_argument("--labelled", type=int, default=7_000)
    parser.add_argument("--width", type=int, default=1280)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    ends = []
    for name in options.only or [part for part in PARTS if part != "selection"]:
        start = time.perf_counter()
        with (options.out / f"{name}.txt").open("w") as file:
            both = Tee(sys.stdout, file)  # type: ignore[arg-type]
            with contextlib.redirect_stdout(both):
                print(f"\n=== {name}", flush=True)
                try:
                    last = PARTS[name](options)
                except Exception as error:  # one part's failure must not cost the others
                    traceback.print_exc(file=both)
                    last = f"FAILED: {type(error).__name__}: {error}"
        torch.cuda.empty_cache()
        ends.append(f"{name:<12} {time.perf_counter() - start:6.1f} s  {last[:200]}")
        print(ends[-1], flush=True)
    print("\n" + "\n".join(ends))


if __name__ == "__main__":
    main()
