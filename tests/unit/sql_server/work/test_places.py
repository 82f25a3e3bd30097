"""Places: so many at once, of one person and in all; whose turn it is."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from lakeward.errors import LakewardError
from lakeward.runtime.clock import SystemClock
from lakeward.sql_server.work.places import Places

_LONG_S = 30.0


def places(in_all: int = 2, of_one: int = 1, waiting: int = 10) -> Places:
    """Some, with a real clock."""
    return Places(in_all, of_one, waiting, SystemClock())


def nothing() -> None:
    """Nobody has stopped it."""


def test_one_person_has_part_of_the_places() -> None:
    """The other part is free for somebody else."""
    some = places()
    with some.place("a", _LONG_S, nothing):
        with pytest.raises(LakewardError, match="No place was free"), some.place("a", 0.01, nothing):
            pass
        with some.place("b", _LONG_S, nothing):
            pass
    with some.place("a", 0.01, nothing):
        pass


def test_no_more_wait_than_may() -> None:
    """They are told at once."""
    some = places(in_all=1, waiting=0)
    with pytest.raises(LakewardError, match="wait already"), some.place("a", _LONG_S, nothing):
        pass


def test_whoever_has_fewest_is_next() -> None:
    """Not who came first with many."""
    some, order, began = places(in_all=2, of_one=2), list[str](), threading.Semaphore(0)

    def ask(who: str) -> None:
        began.release()
        with some.place(who, _LONG_S, nothing):
            order.append(who)

    with ExitStack() as second:
        with ExitStack() as first:
            first.enter_context(some.place("a", _LONG_S, nothing))
            second.enter_context(some.place("a", _LONG_S, nothing))
            threads = []
            for who in ("a", "b"):
                threads.append(threading.Thread(target=ask, args=(who,)))
                threads[-1].start()
                began.acquire()
                while len(some._waiting) < len(threads):
                    pass
        threads[1].join(_LONG_S)
    threads[0].join(_LONG_S)
    assert order == ["b", "a"]


def test_who_is_stopped_while_waiting_leaves_the_queue() -> None:
    """And the place that comes later is another's."""
    some = places(in_all=1)

    def stopped() -> None:
        raise InterruptedError

    with some.place("a", _LONG_S, nothing), pytest.raises(InterruptedError), some.place("b", _LONG_S, stopped):
        pass
    with some.place("c", 0.01, nothing):
        pass
