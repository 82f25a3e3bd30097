"""StagedWriter: rows in, one part out. Runs in a task; nothing of it is visible before the part is committed."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.client.staged.parts.open_directory import directory_at
from lakeward.client.staged.parts.part import Entry, Part
from lakeward.client.staged.parts.table_access import TableAccess
from lakeward.client.staged.task.ordered_work import OrderedWork
from lakeward.client.staged.task.stages import FinishedBatch, Routed, stage_for
from lakeward.client.write.batching import Destination
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.runtime.entropy import SystemEntropy

#: Below this size a thread costs more than it saves.
_HERE_BYTES = 32 * 1024
#: Smaller batches are joined before anything is done with them.
_SMALL_BYTES = 1 << 20
_ROUTES_PENDING_MAX, _BATCHES_PENDING_MAX = 2, 4


class StagedWriter:
    """Encodes the rows of one task for one table.

    `staging` is a directory, by path or URI, that the committing driver can reach too: the one it commits with. Without
    it everything travels with the part. `batch_id`, if it is known, lets leftovers of lost tasks be found at once.
    `change_type_column` names a column whose values are +I, +U, -U, -D or insert, update_after, update_before, delete.
    """

    def __init__(
        self,
        conn: Connection,
        path: str | TablePath,
        *,
        staging: str | None,
        columns: Iterable[str] | None = None,
        change_type_column: str | None = None,
        inline_bytes: int = 1 << 20,
        batch_id: int | None = None,
    ) -> None:
        self._access = TableAccess(conn, path)
        self._stage = stage_for(self._access, columns, change_type_column)
        self._buffer_bytes = self._access.cluster.settings.buffer_bytes
        self._routing: OrderedWork[Routed[Any]] = OrderedWork(self._access.workers, _ROUTES_PENDING_MAX)
        self._finishing: OrderedWork[tuple[Destination, FinishedBatch]] = OrderedWork(
            self._access.workers, _BATCHES_PENDING_MAX
        )
        self._directory = None if staging is None else directory_at(staging)
        owner = "any" if batch_id is None else str(batch_id)
        self._file = f"{self._access.directory_name}/parts/{owner}/{SystemEntropy().uuid().hex}"
        self._inline_bytes = inline_bytes
        self._entries: list[Entry] = []
        self._held: list[memoryview | bytearray] = []
        self._small: list[pa.RecordBatch] = []
        self._small_bytes = 0
        self._stream: Any = None
        self._size = 0
        self._gathered_bytes = 0
        self._ended = False

    @property
    def rows(self) -> int:
        """Rows that are finished so far."""
        return sum(e.rows for e in self._entries)

    def write(self, data: Any) -> None:
        """Take rows, in any form that Table.append takes."""
        self._must_go_on()
        try:
            if not isinstance(data, pa.RecordBatch):
                self._take_small()
                self._take(data)
                return
            if self._small and self._small[0].schema != data.schema:
                self._take_small()
            self._small.append(data)
            self._small_bytes += data.nbytes
            if self._small_bytes >= _SMALL_BYTES:
                self._take_small()
        except BaseException:
            self.abort()
            raise

    def finish(self) -> bytes:
        """What the driver commits."""
        self._must_go_on()
        try:
            self._take_small()
            for routed in self._routing.drain():
                self._gather(routed)
            self._close_all()
            for to, finished in self._finishing.drain():
                self._keep(to, finished)
            return self._part().to_bytes()
        except BaseException:
            self.abort()
            raise

    def abort(self) -> None:
        """Give up, and delete what was written; harmless when done before."""
        self._routing.drop()
        self._finishing.drop()
        self._held.clear()
        self._small.clear()
        self._ended = True
        if self._stream is not None and self._directory is not None:
            self._stream.close()
            self._stream = None
            self._directory.delete(self._file)

    # -- on the way ---------------------------------------------------------------------------------------------------

    def _must_go_on(self) -> None:
        if self._ended:
            raise ErrorCode.OPERATION_NOT_ATTEMPTED.error(f"The staged writer of {self._access.path} has ended.")

    def _take_small(self) -> None:
        """Engines hand over a few thousand rows at a time; to check and spread them costs less in one go."""
        if self._small:
            batches, self._small, self._small_bytes = self._small, [], 0
            self._take(batches[0] if len(batches) == 1 else pa.concat_batches(batches))

    def _take(self, data: Any) -> None:
        for piece in self._stage.pieces(data):
            here = self._stage.raw_bytes(piece) < _HERE_BYTES
            for routed in self._routing.put(partial(self._stage.route, piece), here=here):
                self._gather(routed)

    def _gather(self, routed: Routed[Any]) -> None:
        for to, rows in routed:
            self._gathered_bytes += self._stage.raw_bytes(rows)
            for full in self._stage.gather(to, rows):
                self._finish(to, full)
        if self._gathered_bytes > self._buffer_bytes:  # many partitions: small batches are better than no memory
            self._close_all()

    def _close_all(self) -> None:
        for to in self._stage.waiting():
            self._finish(to, self._stage.close(to))
        self._gathered_bytes = 0

    def _finish(self, to: Destination, batch: Any) -> None:
        size = self._stage.raw_bytes(batch)
        self._gathered_bytes -= size
        for where, finished in self._finishing.put(partial(self._finish_batch, to, batch), here=size < _HERE_BYTES):
            self._keep(where, finished)

    def _finish_batch(self, to: Destination, batch: Any) -> tuple[Destination, FinishedBatch]:
        return to, self._stage.finish(batch)

    def _keep(self, to: Destination, finished: FinishedBatch) -> None:
        self._entries.append(Entry(to.partition, to.bucket, self._size, len(finished.data), finished.rows))
        self._size += len(finished.data)
        if self._stream is not None:
            self._stream.write(finished.data)
            return
        self._held.append(finished.data)
        if self._directory is not None and self._size > self._inline_bytes:
            self._stream = self._directory.open_new(self._file)
            for data in self._held:
                self._stream.write(data)
            self._held.clear()

    def _part(self) -> Part:
        file = None
        if self._stream is not None and self._directory is not None:
            stream, self._stream = self._stream, None
            self._directory.close_durably(stream)
            file = f"{self._directory.uri}/{self._file}"
        self._ended = True
        info = self._access.info
        return Part(
            str(info.path),
            info.table_id,
            self._stage.target_columns,
            tuple(self._entries),
            file,
            b"".join(self._held),
        )
