import json
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from fidal.federation.codec import encode, told
from fidal.federation.messages import Stamp, StatusReply
from fidal.site.audit import Audit, verified, verify
from fidal.storage import StateError
from tests.killed import killed_after

REPLY = StatusReply("east", 4, 600, 20, 7, 5, 2, 80, 9)
PACKET = encode(REPLY, Stamp(1, "0.1.0", "ab"))


def write(path: Path, n: int = 3) -> None:
    audit = Audit(path)
    for _ in range(n):
        audit.message("out", PACKET, told(REPLY))
    audit.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    write(tmp_path / "audit.jsonl")
    return tmp_path / "audit.jsonl"


def test_an_entry_says_all_that_left_the_site(log: Path) -> None:
    entry = next(verified(log))
    assert (entry["number"], entry["way"], entry["kind"]) == (1, "out", "StatusReply")
    assert entry["fields"] == vars(REPLY)
    assert entry["sha256"] == PACKET.seal.hex() and entry["bytes"] == PACKET.size
    assert entry["time"].endswith("+00:00")


def test_the_chain_goes_on_over_a_restart(log: Path) -> None:
    before = verify(log)
    write(log, 2)
    assert before[0] == 3 and verify(log)[0] == 5
    assert verify(log, expected=before[1]) == verify(log)


@pytest.mark.parametrize("line", [0, 1, 2])
def test_a_changed_line_breaks_the_chain_there(log: Path, line: int) -> None:
    lines = log.read_text().splitlines()
    entry = json.loads(lines[line])
    entry["fields"]["labelled"] = 3
    lines[line] = json.dumps(entry)
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(StateError, match=f"line {line + 1}: the chain is broken"):
        verify(log)
    with pytest.raises(StateError, match="the chain is broken"):
        Audit(log)


@pytest.mark.parametrize("line", [0, 1])
def test_a_line_taken_out_breaks_the_chain(log: Path, line: int) -> None:
    lines = log.read_text().splitlines()
    del lines[line]
    log.write_text("\n".join(lines) + "\n")
    with pytest.raises(StateError, match=f"line {line + 1}: the chain is broken"):
        verify(log)


def test_lines_swapped_or_doubled_break_the_chain(log: Path) -> None:
    a, b, c = log.read_text().splitlines()
    for lines, broken in (((b, a, c), 1), ((a, b, b, c), 3), ((a, c, b), 2)):
        log.write_text("\n".join(lines) + "\n")
        with pytest.raises(StateError, match=f"line {broken}:"):
            verify(log)


def test_lines_cut_off_at_the_end_are_missed_by_a_hash_noted_elsewhere(log: Path) -> None:
    _, noted = verify(log)
    log.write_text("\n".join(log.read_text().splitlines()[:2]) + "\n")
    assert verify(log)[0] == 2
    with pytest.raises(StateError, match=f"no entry has the hash {noted}"):
        verify(log, expected=noted)


def test_a_line_torn_by_a_power_cut_is_taken_away_and_that_is_logged(log: Path) -> None:
    with log.open("ab") as file:
        file.write(b'{"number": 4, "time')
    with pytest.raises(StateError, match="line 4"):
        verify(log)
    Audit(log).close()
    *_, last = verified(log)
    assert last["number"] == 4 and "19 bytes of a line" in last["text"]


def test_one_process_writes(log: Path) -> None:
    audit = Audit(log)
    with pytest.raises(ValueError, match="another process is at work on this site"):
        Audit(log)
    audit.close()


def messages(path: Path, mouth: Connection) -> None:
    audit = Audit(path)
    for n in range(100_000):
        audit.message("out", PACKET, told(REPLY))
        mouth.send(n)


def test_sigkill_loses_no_entry(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    said = killed_after(0.2, messages, path)
    Audit(path).close()
    assert verify(path)[0] >= len(said) > 1
