"""Work that Ctrl-C ends."""

from __future__ import annotations

import os
import signal
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.cli.commands.scripts.shell.interrupts import Interrupts
from lakeward.cli.commands.scripts.shell.statement_work import StatementWork, StoppedError
from lakeward.spark.setup.session_behind import SessionBehind


class _Spark:
    """A session whose jobs end when they are cancelled."""

    def __init__(self) -> None:
        self.is_cancelled = threading.Event()
        self.sparkContext = SimpleNamespace(
            setJobGroup=lambda *_, **__: None, cancelJobGroup=lambda _group: self.is_cancelled.set()
        )

    def run_job(self) -> str:
        """Until it is cancelled."""
        if self.is_cancelled.wait(20):
            raise RuntimeError("Job cancelled")
        return "done"


def press_ctrl_c_after(seconds: float) -> threading.Timer:
    """As a terminal does it."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_cancels_a_job() -> None:
    """The work ends, and the next one runs."""
    spark: Any = _Spark()
    behind, interrupts = SessionBehind(lambda: spark), Interrupts()
    behind.session()
    work = StatementWork(behind, interrupts)
    with interrupts.heard():
        press_ctrl_c_after(0.3)
        with pytest.raises(StoppedError):
            work.do(lambda: behind.session() and spark.run_job())
        assert work.do(lambda: "next") == "next"


def test_ctrl_c_that_comes_at_the_end_of_a_plan_ends_what_follows() -> None:
    """A plan that was ready all the same is told, and its rows are not fetched."""
    spark: Any = _Spark()
    behind, interrupts = SessionBehind(lambda: spark), Interrupts()
    behind.session()
    work = StatementWork(behind, interrupts)
    with interrupts.heard():
        press_ctrl_c_after(0.3)
        assert work.do(lambda: spark.is_cancelled.wait(20) and "plan") == "plan"
        with pytest.raises(StoppedError):
            work.do(lambda: pytest.fail("nobody wants this any more"))
        assert work.do(lambda: "next") == "next"


def test_ctrl_c_ends_the_wait_for_spark_but_not_its_start() -> None:
    """The next statement waits for it again; what was given up does nothing when Spark is there."""
    let, done = threading.Event(), []
    spark: Any = _Spark()

    def start() -> Any:
        let.wait(20)
        return spark

    behind, interrupts = SessionBehind(start), Interrupts()
    work = StatementWork(behind, interrupts)
    with interrupts.heard():
        press_ctrl_c_after(0.3)
        with pytest.raises(StoppedError):
            work.do(lambda: (behind.session(), done.append("first")))
        threading.Timer(0.3, let.set).start()
        work.do(lambda: (behind.session(), done.append("second")))
    assert done == ["second"]


def test_an_error_is_raised_where_it_is_waited_for() -> None:
    """As if there were no thread."""
    interrupts = Interrupts()
    work = StatementWork(SessionBehind(lambda: None), interrupts)  # type: ignore[arg-type, return-value]
    with interrupts.heard(), pytest.raises(ZeroDivisionError):
        work.do(lambda: 1 // 0)


def test_time_can_run_out() -> None:
    """For what is only nice to know."""
    spark: Any = _Spark()
    behind, interrupts = SessionBehind(lambda: spark), Interrupts()
    behind.session()
    with interrupts.heard(), pytest.raises(StoppedError):
        StatementWork(behind, interrupts).do(lambda: behind.session() and spark.run_job(), within_s=0.1)
