from pathlib import Path

import pytest
import torch

from fidal.report.reading import read_folders
from fidal.report.tables.timing import seconds_per_round, timing, wire_bytes
from fidal.rows import append
from fidal.storage import save_state
from tests.report.made import make_run


def test_seconds_are_summed_over_sites_and_averaged_over_rounds(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal", rounds=2)
    extra = {"phase": "train", "site": "south", "round": 1, "seconds": 3.0, "peak_bytes": 9_000_000}
    append(folder / "timings.jsonl", extra)
    (study,) = read_folders([tmp_path]).studies
    (run,) = study.runs
    # Rounds 0, 1, 2: 2 s, 2 + 3 s, 2 s.
    assert seconds_per_round(run, "train") == pytest.approx(3.0)
    table = timing(study)
    assert table is not None
    row = dict(zip((c.name for c in table.columns), table.cells()[0], strict=True))
    assert {name: cell.text for name, cell in row.items()} == {
        "Method": "FIDAL",
        "train (s)": "3.00",
        "query (s)": "0.50",
        "evaluate (s)": "0.25",
        "train: peak (MB)": "9",
        "query: peak (MB)": "5",
        "evaluate: peak (MB)": "5",
        "Over the wire (MB)": "–",
    }


def test_the_warm_up_s_query_does_not_count(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal", rounds=1)
    for round, seconds in ((0, 100.0), (1, 1.5)):
        row = {"phase": "query", "site": "south", "round": round, "seconds": seconds}
        append(folder / "timings.jsonl", {**row, "peak_bytes": 0})
    (run,) = read_folders([tmp_path]).studies[0].runs
    assert seconds_per_round(run, "query") == pytest.approx(2.0)


def test_bytes_over_the_wire(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal")
    tensors = {"weight": torch.zeros(10, 5), "steps": torch.zeros((), dtype=torch.int64)}
    save_state(folder / "state.safetensors", tensors, {"done": "True"})
    (run,) = read_folders([tmp_path]).studies[0].runs
    # 51 numbers of 4 bytes; T = 10 times down and up, once down to query and once to evaluate.
    assert wire_bytes(run) == 51 * 4 * 22


def test_no_timings_no_table(tmp_path: Path) -> None:
    (make_run(tmp_path, "fidal") / "timings.jsonl").unlink()
    assert timing(read_folders([tmp_path]).studies[0]) is None
