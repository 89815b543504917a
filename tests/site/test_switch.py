from pathlib import Path

import pytest

from fidal.site.refusal import Refusal
from fidal.site.switch import Switch
from fidal.storage import StateError


@pytest.fixture
def switch(tmp_path: Path) -> Switch:
    return Switch(tmp_path / "switch")


def test_it_is_on_until_somebody_turns_it(switch: Switch) -> None:
    assert switch.position == "on"
    switch.check()
    switch.turn("paused")
    switch.turn("on")
    switch.check()


def test_paused_is_absent_and_stopped_is_final(switch: Switch) -> None:
    for position, trouble in (("paused", "absent"), ("stopped", "refused")):
        Switch(switch.path).turn(position)  # type: ignore[arg-type]
        with pytest.raises(Refusal) as refused:
            switch.check()
        assert refused.value.trouble == trouble


def test_a_word_that_nobody_knows_is_not_on(switch: Switch) -> None:
    switch.path.write_text("of\n")
    with pytest.raises(StateError, match="says 'of'; write one of on, paused, stopped"):
        switch.check()
