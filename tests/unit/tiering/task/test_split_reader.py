"""Splits → batches as the lake takes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from lake_tables import TABLE_ID, table_info

from lakeward.client.forms.damage import LeftOut
from lakeward.client.forms.results import BucketId
from lakeward.model.bucket import TableBucket
from lakeward.tiering.task.split_reader import read_log, read_logs, read_state
from lakeward.tiering.task.splits import LogRange, StateAtOffset

MOMENT_US = 1_700_000_000_123_000


class FakeScan(list[pa.RecordBatch]):
    """Batches, none of them bad."""

    left_out: tuple[LeftOut, ...] = ()

    def by_bucket(self, bytes_max: int) -> dict[BucketId, list[pa.RecordBatch]] | None:
        """As a scan does, of batches of one partition."""
        if sum(batch.nbytes for batch in self) > bytes_max:
            return None
        return {BucketId("a", batch["_bucket"][0].as_py()): [batch] for batch in self}


class FakeTable:
    """Answers with what it was given, and remembers what it was asked."""

    left_out: tuple[LeftOut, ...] = ()

    def __init__(self, info: Any, *batches: pa.RecordBatch) -> None:
        self.info = info
        self.batches = batches
        self.asked: dict[str, Any] = {}

    def scan(self, **asked: Any) -> Any:
        """As a table does."""
        self.asked = asked
        scan = FakeScan(self.batches)
        scan.left_out = self.left_out
        return scan

    def snapshot_batches(self, **asked: Any) -> Any:
        """As a table does."""
        self.asked = asked
        return iter(self.batches)


def logged(*changes: str) -> pa.RecordBatch:
    """Rows as a scan with metadata columns gives them."""
    count = len(changes)
    return pa.record_batch(
        {
            "id": pa.array(range(count), pa.int64()),
            "_bucket": pa.array([1] * count, pa.int32()),
            "_offset": pa.array(range(40, 40 + count), pa.int64()),
            "_timestamp": pa.array([MOMENT_US // 1000] * count, pa.timestamp("ms", "UTC")),
            "_change_type": pa.array(changes, pa.string()),
        }
    )


def test_rows_of_a_log_carry_their_place() -> None:
    """The table's columns, then bucket, offset and time; nothing else is asked for than the range."""
    table: Any = FakeTable(table_info({"id": "BIGINT"}), logged("+A", "+A"))
    (batch,) = read_log(table, LogRange(TableBucket(TABLE_ID, 9, 1), "a$b", 40, 42), [])
    assert batch.schema.names == ["id", "__bucket", "__offset", "__timestamp"]
    assert batch["__offset"].to_pylist() == [40, 41]
    assert batch["__timestamp"][0].value == MOMENT_US
    place = BucketId("a$b", 1)
    assert (table.asked["start"], table.asked["end"]) == ({place: 40}, {place: 42})
    assert (table.asked["partitions"], table.asked["buckets"]) == (["a$b"], [1])


def test_changes_leave_out_what_was_before() -> None:
    """An update is its new row; a batch of nothing else is no batch."""
    table: Any = FakeTable(
        table_info({"id": "BIGINT NOT NULL"}, key="id"), logged("+I", "-U", "+U", "-D"), logged("-U")
    )
    (batch,) = read_log(table, LogRange(TableBucket(TABLE_ID, None, 1), None, 40, 45), [])
    assert batch["_change_type"].to_pylist() == [1, 3, 4]
    assert batch["__offset"].to_pylist() == [40, 42, 43]
    assert table.asked["partitions"] is None


def test_ranges_of_several_buckets_are_read_at_once() -> None:
    """Each with its own rows and gaps, in the order asked; of places that nobody asked for, nothing is read."""
    table: Any = FakeTable(table_info({"id": "BIGINT"}), logged("+A", "+A"))
    table.left_out = (LeftOut(BucketId("b", 2), 7, 8, "gone"),)
    splits = [
        LogRange(TableBucket(TABLE_ID, 9, 1), "a", 40, 42),
        LogRange(TableBucket(TABLE_ID, 10, 2), "b", 7, 8),
    ]
    found = read_logs(table, splits, 1 << 20)
    assert found is not None
    (rows, none), (no_rows, gaps) = ((list(batches), left_out) for batches, left_out in found)
    assert [batch["__offset"].to_pylist() for batch in rows] == [[40, 41]]
    assert (none, no_rows, gaps) == ([], [], [table.left_out[0]])
    spans = {place: (start, table.asked["end"][place]) for place, start in table.asked["start"].items()}
    assert spans == {
        BucketId("a", 1): (40, 42),
        BucketId("a", 2): (0, 0),
        BucketId("b", 1): (0, 0),
        BucketId("b", 2): (7, 8),
    }
    assert read_logs(table, splits, 10) is None  # more than may wait for its files


def test_state_is_inserted_by_the_change_before_its_offset() -> None:
    """So that no later change is taken for an older one."""
    rows = pa.record_batch({"id": pa.array([5, 6], pa.int64())})
    table: Any = FakeTable(table_info({"id": "BIGINT NOT NULL"}, key="id"), rows)
    (batch,) = read_state(table, StateAtOffset(TableBucket(TABLE_ID, None, 3), None, 50), now_ms=7)
    assert batch.schema.names == ["id", "__bucket", "__offset", "__timestamp", "_change_type"]
    assert batch["__offset"].to_pylist() == [49, 49]
    assert batch["__bucket"].to_pylist() == [3, 3]
    assert batch["_change_type"].to_pylist() == [1, 1]
    assert batch["__timestamp"][0].value == 7000
    assert table.asked == {"partitions": None, "buckets": [3], "as_of": 50}
