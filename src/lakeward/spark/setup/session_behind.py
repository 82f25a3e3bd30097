"""SessionBehind: a SparkSession that starts on a thread; whoever asks for it waits until it is there."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING

from lakeward.spark.setup.beside import begin_beside, wait_beside

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class GivenUpError(Exception):
    """Somebody does not want the answer any more."""


class SessionBehind:
    """Starts when it is told to, or when it is first asked for: what needs no Spark does not wait for it."""

    def __init__(self, start: Callable[[], SparkSession]) -> None:
        self._start = start
        self._begun: Future[SparkSession] | None = None
        self._guard = threading.Lock()
        self._local = threading.local()
        self._cancelled: set[str] = set()

    def begin(self) -> Future[SparkSession]:
        """Begin to start it; again if that failed before."""
        with self._guard:
            if self._begun is None or (self._begun.done() and self._begun.exception() is not None):
                self._begun = begin_beside(self._start, "spark-start")
            return self._begun

    @property
    def is_there(self) -> bool:
        """Whether nobody has to wait."""
        begun = self._begun
        return begun is not None and begun.done() and begun.exception() is None

    @property
    def is_awaited(self) -> bool:
        """Whether it is starting."""
        return self._begun is not None and not self._begun.done()

    @contextlib.contextmanager
    def work_of(self, group: str) -> Iterator[None]:
        """What this thread asks of Spark meanwhile can be cancelled by that name."""
        self._local.group, self._local.is_told = group, False
        if self.is_there:
            self.session()  # frames of earlier work are asked without it
        try:
            yield
        finally:
            self._local.group = None

    def cancel(self, group: str) -> None:
        """Cancel what runs under that name, and what would."""
        self._cancelled.add(group)
        if self.is_there:
            assert self._begun is not None
            self._begun.result().sparkContext.cancelJobGroup(group)

    def stop(self) -> None:
        """End it, if it is there."""
        if self.is_there:
            assert self._begun is not None
            self._begun.result().stop()

    def session(self) -> SparkSession:
        """The session, when it is there; on a thread whose work was cancelled, GivenUpError."""
        session = wait_beside(self.begin())
        group = getattr(self._local, "group", None)
        if group is not None:
            if group in self._cancelled:
                raise GivenUpError
            if not self._local.is_told:
                self._local.is_told = True
                session.sparkContext.setJobGroup(group, "lakeward shell", interruptOnCancel=True)
        return session
