"""What is written down, and how often."""

from __future__ import annotations

import errno
import json
from typing import Any

import pytest

from lakeward.errors import ErrorCode
from lakeward.model.principal import Principal
from lakeward.runtime.clock import ManualClock
from lakeward.server.grants.records.audit import Audit, Deed

ALICE = Deed("CREATE_TABLE", Principal("alice"), "10.0.0.7:4711")
AGAIN = Deed("CREATE_TABLE", Principal("alice"), "10.0.0.7:4712")
FACTS = {"table": "shop.orders"}


class Lines:
    """A file in memory that may fail."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.is_full = False

    def write(self, line: bytes) -> None:
        """One more."""
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")
        assert line.endswith(b"\n")
        self.lines.append(json.loads(line))

    def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def lines() -> Lines:
    """An empty file."""
    return Lines()


@pytest.fixture
def clock() -> ManualClock:
    """A clock by hand."""
    return ManualClock(1_731_324_600_123)


@pytest.fixture
def audit(lines: Lines, clock: ManualClock) -> Audit:
    """An audit into that file."""
    return Audit(lines, clock)  # type: ignore[arg-type]


def test_a_change_is_a_line(audit: Audit, lines: Lines) -> None:
    """When, what, who, from where, how it ended, and what it was about."""
    audit.note_change(ALICE, FACTS)
    assert lines.lines == [
        {
            "time": "2024-11-11T11:30:00.123Z",
            "event": "CREATE_TABLE",
            "principal": "User:alice",
            "peer": "10.0.0.7:4711",
            "outcome": "done",
            "table": "shop.orders",
        }
    ]


def test_a_failure_says_why_by_its_name(audit: Audit, lines: Lines) -> None:
    """Not by its message, which may hold what somebody typed."""
    audit.note_failure(ALICE, ErrorCode.TABLE_ALREADY_EXIST, FACTS)
    assert lines.lines[0]["outcome"] == "failed"
    assert lines.lines[0]["error"] == "TABLE_ALREADY_EXIST"


def test_changes_are_written_every_time(audit: Audit, lines: Lines) -> None:
    """However alike they are."""
    for _ in range(5):
        audit.note_change(ALICE, FACTS)
    assert len(lines.lines) == 5


def test_the_same_refusal_is_written_once_in_a_while(audit: Audit, lines: Lines, clock: ManualClock) -> None:
    """From whichever connection of an address; then it is said how often it happened."""
    for _ in range(1000):
        audit.note_refusal(ALICE, FACTS)
        audit.note_refusal(AGAIN, FACTS)
    audit.note_refusal(ALICE, {"table": "shop.other"})
    audit.look()
    assert [line["table"] for line in lines.lines] == ["shop.orders", "shop.other"]
    clock.advance(11_000)
    audit.look()
    assert [line.get("times") for line in lines.lines] == [None, None, 1999]
    audit.note_refusal(ALICE, FACTS)
    assert len(lines.lines) == 4


def test_what_is_held_back_is_written_at_the_end(audit: Audit, lines: Lines) -> None:
    """A server that stops forgets no refusal."""
    audit.note_refusal(ALICE, FACTS)
    audit.note_refusal(ALICE, FACTS)
    audit.close()
    assert lines.lines[-1]["times"] == 1


def test_any_number_of_different_refusals_takes_little_memory(audit: Audit, lines: Lines) -> None:
    """Each is written, and those of longest ago are no longer held back."""
    for number in range(5000):
        audit.note_refusal(ALICE, {"table": f"shop.t{number}"})
    assert len(lines.lines) == 5000
    assert len(audit._told) <= 1000


def test_a_full_disk_stops_nobody_and_is_counted(audit: Audit, lines: Lines, caplog: pytest.LogCaptureFixture) -> None:
    """The server goes on; its log and its metrics tell that something is not on the record."""
    lines.is_full = True
    audit.note_change(ALICE, FACTS)
    audit.note_change(ALICE, FACTS)
    assert audit.lost == 2
    assert "User:alice" in caplog.text
    assert caplog.text.count("No space left") == 1
    lines.is_full = False
    audit.note_change(ALICE, FACTS)
    assert len(lines.lines) == 1
