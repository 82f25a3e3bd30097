"""Writer and Upserter for blocking code: facades over their async twins."""

from __future__ import annotations

import asyncio
import atexit
import logging
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from lakeward.client.blocking.loading import load_forms
from lakeward.client.cluster.loop_thread import LoopThread
from lakeward.client.forms.results import AppendResult, UpsertResult
from lakeward.client.write.writer import AsyncWriter

if TYPE_CHECKING:
    from lakeward.client.upsert.upserter import AsyncUpserter


_log = logging.getLogger(__name__)
#: How long the end of a program waits for rows of writers that nobody has closed.
_AT_EXIT_S = 10.0


class _Pipeline:
    """What both share."""

    _inner: AsyncWriter | AsyncUpserter

    def __init__(self, loop: LoopThread) -> None:
        self._loop = loop
        _left_open.add(self)

    def __enter__(self) -> Self:
        _left_open.discard(self)
        self._inner.promise()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._loop.run(self._inner.abort())

    @property
    def written(self) -> int:
        """Rows acknowledged so far."""
        return self._inner.written

    def flush(self) -> None:
        """Wait until everything written so far is acknowledged; raises the first failure."""
        self._loop.run(self._inner.flush())

    def close(self) -> None:
        """Flush, then give up the writer."""
        self._loop.run(self._inner.close())

    def finish(self) -> None:
        """At the end of the program: send what is still here, or say that it is lost."""
        if self._loop.closed or self._loop.is_copy:
            return
        try:
            self._loop.run(asyncio.wait_for(self._inner.finish(), _AT_EXIT_S))
        except Exception as wrong:  # noqa: BLE001 - nobody is left to catch it
            why = str(wrong) or f"no answer in {_AT_EXIT_S:.0f} s."
            path = self._inner.info.path
            _log.error("rows for %s were not sent, since nobody has closed their writer: %s", path, why)


_left_open: WeakSet[_Pipeline] = WeakSet()


def _finish_all() -> None:
    for one in list(_left_open):
        one.finish()


atexit.register(_finish_all)


class Writer(_Pipeline):
    """Pipelined appends: `write` returns when the rows are queued, `flush` when they are acknowledged."""

    _inner: AsyncWriter

    def __init__(self, loop: LoopThread, inner: AsyncWriter) -> None:
        super().__init__(loop)
        self._inner = inner

    def write(self, data: Any) -> None:
        """Queue rows; waits while too much is in flight. Raises the first failure of earlier rows."""
        load_forms()
        from lakeward.client.forms.data_forms import batches_of, is_quick

        if is_quick(data):
            self._loop.run(self._inner.write(data))
            return
        for batch in batches_of(data, self._inner.info.schema):  # here, because iterables may belong to this thread
            self._loop.run(self._inner.write(batch))

    def result(self) -> AppendResult:
        """What has been acknowledged so far."""
        return self._inner.result()


class Upserter(_Pipeline):
    """Pipelined changes by key: calls return when the changes are queued, `flush` when they are acknowledged."""

    _inner: AsyncUpserter

    def __init__(self, loop: LoopThread, inner: AsyncUpserter) -> None:
        super().__init__(loop)
        self._inner = inner

    def upsert(self, data: Any) -> None:
        """Queue rows to put; waits while too much is in flight. Raises the first failure of earlier changes."""
        load_forms()
        from lakeward.client.forms.data_forms import is_quick

        if is_quick(data):
            self._loop.run(self._inner.upsert(data))
            return
        for batch in self._inner.written_columns.batches(data):  # here, because iterables may belong to this thread
            self._loop.run(self._inner.upsert_batch(batch))

    def delete(self, keys: Any) -> None:
        """Queue keys to delete; with `columns`, only those columns of the rows are set to NULL."""
        self._loop.run(self._inner.delete_batch(self._inner.key_batch(keys)))

    def change(self, rows: Any, is_put: Any) -> None:
        """Queue a RecordBatch with all columns in its order: rows to put, and of the others the keys to delete.

        `is_put` is a numpy array that says which rows are put.
        """
        self._loop.run(self._inner.change_batch(rows, is_put))

    def result(self) -> UpsertResult:
        """What has been acknowledged so far."""
        return self._inner.result()
