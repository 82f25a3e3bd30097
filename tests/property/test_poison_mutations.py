"""Whatever a batch is changed into: it is refused, or Arrow reads it and finds nothing wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
from arrow_batches import arrow_batch, read_batch
from hypothesis import given
from hypothesis import strategies as st
from poison_batches import ARROW_SCHEMA, LARGE, ROWS

from lakeward.errors import LakewardError
from lakeward.model import data_types as t
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.records.batch.batch_header import read_header
from lakeward.records.batch.log_batch import cut_batches, seal
from lakeward.server.tablet.log.append_checks import AppendChecks

SCHEMA = Schema.of(
    [
        ("id", t.BIGINT().not_null()),
        ("name", t.STRING()),
        ("price", t.DECIMAL(5, 2)),
        ("at", t.TIME(3)),
        ("tags", t.ARRAY(t.INT())),
        ("props", t.MAP(t.STRING(), t.INT())),
        ("flag", t.BOOLEAN()),
        ("raw", t.BINARY(4)),
    ]
)
TABLE = TableInfo(TablePath("db", "t"), 1, 1, TableDescriptor(SCHEMA, bucket_count=1).normalize(), 0, 0)
CATALOG: Any = SimpleNamespace(schema=lambda _table_id, _schema_id: SCHEMA)
CHECKS = AppendChecks(CATALOG, looks_at_contents=True)
GOOD = {
    (codec, size): bytes(arrow_batch(rows, codec))
    for codec in (None, "zstd", "lz4")
    for size, rows in ((0, ROWS), (1, LARGE))
}
CHECKED_BY_CRC = 25


def is_taken(batch: bytearray) -> bool:
    """Whether the server would append it."""
    data = memoryview(batch)
    try:
        CHECKS.check(TABLE, TableBucket(1, None, 0), data, cut_batches(data))
    except LakewardError:
        return False
    return True


def test_good_batches_are_taken() -> None:
    """All codecs, few rows and many."""
    assert all(is_taken(bytearray(batch)) for batch in GOOD.values())


@given(
    st.sampled_from(sorted(GOOD, key=str)),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4),
    st.booleans(),
)
def test_a_changed_batch_is_refused_or_readable(
    which: tuple[str | None, int], changes: list[tuple[float, int]], in_head: bool
) -> None:
    """Any bytes anywhere, with a checksum that is right again."""
    batch = bytearray(GOOD[which])
    end = min(len(batch), 900) if in_head else len(batch)
    for place, value in changes:
        batch[CHECKED_BY_CRC + int(place * (end - CHECKED_BY_CRC))] = value
    seal(batch)
    if is_taken(batch) and read_header(batch).record_count:
        read = read_batch(batch, ARROW_SCHEMA)
        read.validate(full=True)
        assert read.num_rows == read_header(batch).record_count
        assert pa.Table.from_batches([read]).schema == ARROW_SCHEMA
        assert len(read.to_pylist()) == read.num_rows
