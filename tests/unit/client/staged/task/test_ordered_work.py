"""Work on threads, results in order."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lakeward.client.staged.task.ordered_work import OrderedWork


def test_results_come_in_the_order_of_the_work() -> None:
    """Even when a later piece is done first."""
    second_done = threading.Event()

    def first() -> int:
        assert second_done.wait(10)
        return 1

    def second() -> int:
        second_done.set()
        return 2

    with ThreadPoolExecutor(2) as workers:
        work: OrderedWork[int] = OrderedWork(workers, 4)
        assert [*work.put(first), *work.put(second), *work.drain()] == [1, 2]


def test_no_more_than_so_much_is_under_way() -> None:
    """Who gives more waits for the oldest."""
    with ThreadPoolExecutor(2) as workers:
        work: OrderedWork[int] = OrderedWork(workers, 1)
        taken = [r for i in range(5) for r in work.put(lambda i=i: i)]
        assert taken[:4] == [0, 1, 2, 3]
        assert [*taken, *work.drain()] == [0, 1, 2, 3, 4]


def test_small_work_is_done_at_once_and_still_in_order() -> None:
    """In the caller's thread."""
    with ThreadPoolExecutor(1) as workers:
        work: OrderedWork[str] = OrderedWork(workers, 4)
        here = lambda: threading.current_thread().name  # noqa: E731
        assert list(work.put(here, here=True)) == [threading.current_thread().name]


def test_a_failure_shows_where_its_result_would() -> None:
    """Not lost in a thread."""
    with ThreadPoolExecutor(1) as workers:
        work: OrderedWork[float] = OrderedWork(workers, 4)
        with pytest.raises(ZeroDivisionError):
            _ = [*work.put(lambda: 1 / 0), *work.drain()]
