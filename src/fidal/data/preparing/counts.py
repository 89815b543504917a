"""The numbers of images beside the paper's."""

from collections.abc import Sequence
from pathlib import Path

from fidal.data.preparing.collected import Collected, Count
from fidal.storage import write_atomic


def check_counts(name: str, collected: Collected, out: Path, *, allow_partial: bool) -> None:
    """The counts are the paper's, unless `allow_partial`. Missing files are listed below `out`."""
    listed = out / "missing.txt"
    if collected.missing:
        out.mkdir(parents=True, exist_ok=True)
        write_atomic(listed, "\n".join((*collected.missing, "")).encode())
    else:
        listed.unlink(missing_ok=True)
    wrong = differing(collected.counts)
    if not wrong or allow_partial:
        return
    told = f"{name}: {len(wrong)} of {len(collected.counts)} counts differ: "
    told += "; ".join(in_words(count) for count in wrong[:3]) + ("; ..." if len(wrong) > 3 else "")
    if collected.missing:
        first = ", ".join(collected.missing[:3])
        told += f"; {len(collected.missing):,} files are missing, first {first}, all in {listed}"
    raise ValueError(
        f"{told}; add the folders that hold the rest with --from, or go on with --allow-partial"
    )


def differing(counts: Sequence[Count]) -> list[Count]:
    """Those that are not the paper's."""
    return [count for count in counts if count.expected not in (None, count.found)]


def in_words(count: Count) -> str:
    """What, where, expected and found."""
    return f"{count.what}, {count.site}: expected {count.expected:,}, found {count.found:,}"
