from pathlib import Path

from fidal.experiment.timings import Timings
from fidal.federation.messages import EvaluateRequest, QueryRequest, StatusRequest, TrainRequest
from fidal.rows import read
from tests.federation.test_weights import weights

W = weights(1, 2, 3)


def test_steps_of_a_phase_are_summed_and_their_highest_peak_counts(tmp_path: Path) -> None:
    times = Timings(tmp_path / "timings.jsonl")
    for step, (seconds, peak) in enumerate([(1.5, 10), (2.0, 30), (0.25, 20)]):
        times.clock("a", TrainRequest("f", 2, step, 3, W), seconds, peak)
    times.clock("b", TrainRequest("f", 2, 0, 3, W), 4.0, 5)
    times.flush()
    times.clock("a", EvaluateRequest("f", 2, W), 0.5, 7)
    times.clock("a", QueryRequest("f", 3, 5, W), 0.75, 8)
    times.flush()
    times.flush()
    found = [tuple(row.values()) for row in read(tmp_path / "timings.jsonl")]
    assert found == [
        ("train", "a", 2, 3.75, 30),
        ("train", "b", 2, 4.0, 5),
        ("evaluate", "a", 2, 0.5, 7),
        ("query", "a", 3, 0.75, 8),
    ]


def test_asking_for_the_status_is_no_phase(tmp_path: Path) -> None:
    times = Timings(tmp_path / "timings.jsonl")
    times.clock("a", StatusRequest("f", 0), 1.0, 1)
    times.flush()
    assert not (tmp_path / "timings.jsonl").exists()
