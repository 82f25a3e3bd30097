"""Worker threads of a connection, on which rows are encoded and decoded."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from lakeward.errors import ErrorCode, LakewardError

P = ParamSpec("P")
T = TypeVar("T")


class Workers(ThreadPoolExecutor):
    """A pool of threads; work that comes after its end, or still waits then, fails with a sentence.

    Work that is cancelled instead would cancel the task of whoever waits for it, as if its caller had asked for that.
    """

    def __init__(self, count: int, name: str) -> None:
        super().__init__(count, thread_name_prefix=name)
        self._has_ended = False

    def submit(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have work done on a thread."""

        def unless_ended() -> T:
            if self._has_ended:
                raise _no_connection()
            return work(*args, **kwargs)

        if self._has_ended:
            raise _no_connection()
        return super().submit(unless_ended)

    def end(self) -> None:
        """Begin nothing more, and wait for nothing."""
        self._has_ended = True
        self.shutdown(wait=False)


def _no_connection() -> LakewardError:
    return ErrorCode.OPERATION_NOT_ATTEMPTED.error("The connection was closed meanwhile.")
