"""PutSteps: one put, so that what takes long may run on a thread; the log is appended to on the loop."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.records.batch.kv_batch import KvBatch
from lakeward.server.tablet.requests.flow import Flow
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.kv_tablet import KvTablet, PreparedPut

#: What is decided row by row takes some ten microseconds a row; what simply replaces takes half a microsecond.
_BY_ROW_MAX = 128
_ROWS_MAX = 4096
_BYTES_MAX = 512 << 10


def is_long(state: KvTablet, rows: int, size: int, target_columns: tuple[int, ...]) -> bool:
    """Whether to put so many rows, of so many bytes, would keep everybody else waiting."""
    if rows > _ROWS_MAX or size > _BYTES_MAX:
        return True
    return rows > _BY_ROW_MAX and state.decides_by_row(target_columns)


class PutSteps:
    """Puts; the bucket must be the caller's until the last step is done."""

    def __init__(self, states: States, now_ms: Callable[[], int]) -> None:
        self._states = states
        self._now_ms = now_ms

    def put(
        self,
        bucket: TableBucket,
        state: KvTablet,
        batch: KvBatch,
        target_columns: tuple[int, ...],
        *,
        overwrite: bool = False,
    ) -> Flow[int]:
        """All of it or nothing; the offset behind the last change."""
        state.hold_ids(batch.record_count)
        prepared: PreparedPut = yield partial(state.prepare, batch, target_columns, overwrite=overwrite)
        try:
            self._states.check(bucket)  # it may have been dropped meanwhile
        except LakewardError:
            state.drop(prepared)
            raise
        end = state.keep(prepared, self._now_ms())
        yield state.maintain
        return end
