"""The figure of `scaling.py`: seconds and MiB over each size, log-log, with the exponents.

python benchmarks/scaling_figure.py docs/figures/scaling-cuda.json   a PNG beside it
"""

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
from scaling_exponent import exponent

mpl.use("agg")
import matplotlib.pyplot as plt


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("numbers", type=Path, help="what scaling.py --out wrote")
    options = parser.parse_args()
    draw(json.loads(options.numbers.read_text()), options.numbers.with_suffix(".png"))


def draw(curves: list[dict[str, Any]], path: Path) -> None:
    sizes = list(dict.fromkeys(curve["over"] for curve in curves))
    figure, axes = plt.subplots(
        2, len(sizes), figsize=(3.4 * len(sizes), 5), squeeze=False, layout="constrained"
    )
    for column, over in zip(axes.T, sizes, strict=True):
        for curve in (c for c in curves if c["over"] == over):
            name = f"{curve['phase']}: {exponent(curve['sizes'], curve['seconds']):.2f}"
            column[0].loglog(curve["sizes"], curve["seconds"], "o-", label=name, markersize=3)
            memory = [max(mib, 0.1) for mib in curve["mib"]]
            column[1].loglog(curve["sizes"], memory, "o-", markersize=3)
        column[0].set_title(over)
        column[0].legend(title="exponent", fontsize=7, title_fontsize=7)
        column[1].set_xlabel(over)
    axes[0][0].set_ylabel("seconds")
    axes[1][0].set_ylabel("MiB beyond inputs")
    figure.savefig(path, dpi=150)
    plt.close(figure)


if __name__ == "__main__":
    main()
