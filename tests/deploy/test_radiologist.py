"""A simulated radiologist works through a desk as a page would."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from fidal.deploy import radiologist
from fidal.deploy.radiologist import work_through
from fidal.site.desk import Desk
from fidal.site.ledger import Ledger
from fidal.site.service import DeskServer
from fidal.types import OUTLIER

TRUTH = {f"img-{i}": ("mel", "nv", "ood")[i % 3] for i in range(12)}
LABELS = {"mel": 0, "nv": 1, "ood": OUTLIER}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", federation="f", site="east")
    ledger.ask(0, list(TRUTH))
    server = DeskServer(Desk(ledger, ("mel", "nv")), "token", port=0)
    (tmp_path / "desk.address").write_text(server.address + "\n")
    (tmp_path / "desk.token").write_text("token\n")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server.desk
    server.shutdown()
    thread.join()
    server.server_close()
    ledger.close()


def test_everything_is_answered_rightly_slips_and_all(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(radiologist, "SLIP", 0.5)
    outside = radiologist.Desk(tmp_path)
    assert work_through(outside, TRUTH, seconds=0.001, by="dr r") == 12
    assert desk.ledger.answers() == {sample: LABELS[word] for sample, word in TRUTH.items()}
    assert work_through(outside, TRUTH, seconds=0.001, by="dr r") == 0
    kinds = [event.kind for event in desk.ledger.events()]
    assert kinds.count("undo") > 0


def test_a_refusal_of_the_desk_is_an_error(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "desk.token").write_text("another\n")
    with pytest.raises(ValueError, match="token is missing or wrong"):
        work_through(radiologist.Desk(tmp_path), TRUTH, seconds=0.001, by="dr r")
