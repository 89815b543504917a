import numpy as np
import pytest
import torch

from fidal.federation.memory import FORGET, forget_peak, peak_bytes

CPU = torch.device("cpu")


@pytest.mark.skipif(not FORGET.exists(), reason="only Linux forgets the peak of a process")
def test_the_peak_is_that_of_the_work_since_the_last_one() -> None:
    forget_peak(CPU)
    start = peak_bytes(CPU)
    np.ones(2**23)  # 64 MiB, gone at once
    high = peak_bytes(CPU)
    assert high >= start + 2**25
    forget_peak(CPU)
    assert peak_bytes(CPU) < high - 2**24


def test_where_the_system_tells_less_the_peak_is_the_process_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fidal.federation.memory.STATUS", FORGET.with_name("no such file"))
    monkeypatch.setattr("fidal.federation.memory.FORGET", FORGET.with_name("no such file"))
    forget_peak(CPU)
    assert 2**24 < peak_bytes(CPU) < 2**40
