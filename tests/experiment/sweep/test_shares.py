import pytest

from fidal.experiment.sweep.shares import gpus, share


@pytest.fixture(autouse=True)
def _nobody_has_set_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


@pytest.mark.parametrize(
    ("jobs", "cores", "threads"), [(1, 2, "2"), (2, 2, "1"), (3, 2, "1"), (3, 16, "5")]
)
def test_cores_are_shared_out(jobs: int, cores: int, threads: str) -> None:
    assert share(0, jobs, cores, []) == {"OMP_NUM_THREADS": threads}


def test_threads_that_somebody_has_set_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert share(0, 2, 16, [])["OMP_NUM_THREADS"] == "3"


def test_gpus_are_dealt_to_the_slots_in_turn() -> None:
    seen = [share(slot, 4, 8, ["4", "GPU-ab"])["CUDA_VISIBLE_DEVICES"] for slot in range(4)]
    assert seen == ["4", "GPU-ab", "4", "GPU-ab"]


def test_only_gpus_that_this_process_may_see(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1, 3")
    assert gpus() == ["1", "3"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert gpus() == []
