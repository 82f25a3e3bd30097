"""A session that starts while something else is done."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.spark.setup.session_behind import GivenUpError, SessionBehind


class _Session:
    """Notes which jobs are cancelled."""

    def __init__(self) -> None:
        self.groups: list[str] = []
        self.cancelled: list[str] = []
        self.is_stopped = False
        self.sparkContext = SimpleNamespace(
            setJobGroup=lambda group, _text, interruptOnCancel: self.groups.append(group),  # noqa: N803 - Spark's name
            cancelJobGroup=self.cancelled.append,
        )

    def stop(self) -> None:
        self.is_stopped = True


def test_whoever_asks_waits() -> None:
    """And until somebody does, or says so, nothing starts."""
    let, session = threading.Event(), _Session()

    def start() -> Any:
        let.wait(10)
        return session

    behind = SessionBehind(start)
    assert (behind.is_there, behind.is_awaited) == (False, False)
    behind.begin()
    assert (behind.is_there, behind.is_awaited) == (False, True)
    let.set()
    assert behind.session() is session
    assert (behind.is_there, behind.is_awaited) == (True, False)


def test_a_start_that_failed_is_tried_again() -> None:
    """By the next who asks."""
    session = _Session()
    outcomes: list[Any] = [OSError("no Java"), session]

    def start() -> Any:
        if isinstance(found := outcomes.pop(0), Exception):
            raise found
        return found

    behind = SessionBehind(start)
    with pytest.raises(OSError, match="no Java"):
        behind.session()
    assert behind.session() is session


def test_work_is_cancelled_by_its_name() -> None:
    """What runs, and what would begin a moment later."""
    session: Any = _Session()
    behind = SessionBehind(lambda: session)
    with behind.work_of("one"):
        behind.session()
        behind.session()
        behind.cancel("one")
        with pytest.raises(GivenUpError):
            behind.session()
    with behind.work_of("two"):
        pass  # frames that are at hand need no session, and are to be cancelled all the same
    assert (session.groups, session.cancelled) == (["one", "two"], ["one"])


def test_it_ends_only_what_was_begun() -> None:
    """To end what never started is nothing."""
    session: Any = _Session()
    behind = SessionBehind(lambda: session)
    behind.stop()
    assert not session.is_stopped
    behind.session()
    behind.stop()
    assert session.is_stopped
