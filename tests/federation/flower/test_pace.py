import pytest

from fidal.federation.flower import pace
from fidal.federation.flower.pace import Pace


def test_pauses_grow_while_nothing_happens_and_begin_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(pace.time, "sleep", slept.append)
    ours = Pace()
    for _ in range(40):
        ours.rest(longest=3.0)
    assert slept[0] == pace.SHORTEST
    assert slept == sorted(slept) and slept[-1] == 3.0
    ours.again()
    ours.rest(longest=3.0)
    assert slept[-1] == pace.SHORTEST
