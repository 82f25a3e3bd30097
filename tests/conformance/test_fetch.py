"""FETCH_LOG, LIST_OFFSETS and LIMIT_SCAN: ranges, limits, projection, waiting."""

from __future__ import annotations

import time

import pyarrow as pa
import pytest
from arrow_batches import EVERY_SHAPE, arrow_batch, ids_batch, read_rows
from server_process import ServerProcess
from wire_client import WireClient, WireCluster
from wire_tables import AT_TIME, EARLIEST, LATEST, WireTable, only_bucket

from lakeward.errors import ErrorCode
from lakeward.model.data_types import BIGINT
from lakeward.model.json_form import schema_to_json
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    LimitScanRequest,
    ListOffsetsRequest,
    PbLeafPredicate,
    PbLiteralValue,
    PbPredicate,
)
from lakeward.protocol.messages.table import GetTableStatsRequest, PbTableStatsReqForBucket
from lakeward.records.arrow.arrow_types import schema_of_arrow
from lakeward.records.batch.log_batch import walk_batches
from lakeward.records.batch.statistics import ColumnStatistics, encode_statistics

IDS = pa.schema([("id", pa.int64())])
#: Longer than any test runs: a fetch that is answered within a test was woken, its time was not up.
FOREVER_MS = 50_000


@pytest.fixture
def table(cluster: WireCluster, database: str) -> WireTable:
    """A log table of one BIGINT column with two buckets; bucket 0 holds ten batches of ten rows."""
    table = WireTable.create(cluster, database, "t", bucket_count=2)
    for first in range(0, 100, 10):
        table.append(ids_batch(range(first, first + 10)))
    return table


def batches(records: object) -> list[int]:
    """The base offsets of fetched batches; no batch may be cut off."""
    spans = list(walk_batches(records))
    assert sum(span.end - span.start for span in spans) == len(records)
    return [span.header.base_offset for span in spans]


BATCH_BYTES = len(ids_batch(range(10)))


# -- ranges


def test_minus_two_is_the_beginning(table: WireTable) -> None:
    """Clients that have read nothing yet ask for offset -2."""
    assert batches(table.fetch(-2).records) == list(range(0, 100, 10))


@pytest.mark.parametrize("offset", [0, 1, 9, 10, 55, 99])
def test_a_fetch_begins_with_the_batch_that_holds_the_offset(table: WireTable, offset: int) -> None:
    """Whole batches only; the client skips the rows before its offset."""
    answer = table.fetch(offset)
    assert batches(answer.records) == list(range(offset // 10 * 10, 100, 10))
    assert (answer.high_watermark, answer.log_start_offset) == (100, 0)


def test_at_the_end_there_is_nothing_yet(table: WireTable) -> None:
    """The end of the log is a legal offset: no rows, no error, the high watermark is told."""
    answer = table.fetch(100)
    assert (bytes(answer.records), answer.error_code, answer.high_watermark) == (b"", None, 100)
    empty = table.fetch(-2, bucket=1)
    assert (bytes(empty.records), empty.error_code, empty.high_watermark) == (b"", None, 0)


@pytest.mark.parametrize("offset", [101, 10**15, -1, -3])
def test_offsets_outside_the_log_are_refused(table: WireTable, offset: int) -> None:
    """Behind the end and before the start is LOG_OFFSET_OUT_OF_RANGE, answered at once."""
    answer = table.fetch(offset, max_wait_ms=FOREVER_MS, min_bytes=1)
    assert answer.error_code == ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value


@pytest.mark.parametrize(("bucket", "partition"), [(2, None), (-1, None), (0, 7)])
def test_buckets_that_are_not_there_are_refused(table: WireTable, bucket: int, partition: int | None) -> None:
    """An unknown bucket or partition is UNKNOWN_TABLE_OR_BUCKET in its own answer."""
    answer = table.fetch(0, bucket=bucket, partition=partition)
    assert answer.error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value
    assert (answer.bucket_id, answer.partition_id) == (bucket, partition)


def test_one_bad_bucket_does_not_spoil_the_others(table: WireTable) -> None:
    """Each bucket of a fetch is answered by itself."""
    answer = table.cluster.tablet.call(Api.FETCH_LOG, table.fetch_request(0, 5, 0, max_wait_ms=FOREVER_MS, min_bytes=1))
    (found,) = answer.tables_resp
    codes = {bucket.bucket_id: bucket.error_code for bucket in found.buckets_resp}
    assert codes == {
        0: None,
        1: ErrorCode.LOG_OFFSET_OUT_OF_RANGE.value,
        2: ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value,
    }


# -- limits


def test_a_bucket_limit_is_kept_in_whole_batches(lakeward: ServerProcess, table: WireTable) -> None:
    """As many whole batches as fit are sent, never a part of one."""
    assert batches(table.fetch(0, bucket_bytes=3 * BATCH_BYTES).records) == [0, 10, 20]
    assert batches(table.fetch(0, bucket_bytes=3 * BATCH_BYTES - 1).records) == [0, 10]


def test_the_request_limit_is_shared_by_its_buckets(lakeward: ServerProcess, table: WireTable) -> None:
    """What the first bucket takes is not there for the second."""
    table.append(ids_batch(range(10)), bucket=1)
    request = table.fetch_request(0, 0, max_bytes=2 * BATCH_BYTES)
    first, second = table.cluster.tablet.call(Api.FETCH_LOG, request).tables_resp[0].buckets_resp
    assert batches(first.records) == [0, 10]
    assert (bytes(second.records), second.error_code, second.high_watermark) == (b"", None, 10)


@pytest.mark.parametrize("limit", [0, 1, 48, BATCH_BYTES - 1])
def test_at_least_one_batch_always_comes(table: WireTable, limit: int) -> None:
    """However small the limit, the first bucket with rows sends one whole batch, so that every reader gets on."""
    for request in (table.fetch_request(100, 0, max_bytes=limit), table.fetch_request(35, -2, bucket_bytes=limit)):
        found = table.cluster.tablet.call(Api.FETCH_LOG, request).tables_resp[0].buckets_resp
        assert len(batches(found[0].records)) + len(batches(found[1].records)) <= 1
    assert batches(table.fetch(35, bucket_bytes=limit).records) == [30]
    assert batches(table.fetch(35, max_bytes=limit).records) == [30]


# -- waiting


def test_a_fetch_waits_and_an_append_wakes_it(lakeward: ServerProcess, table: WireTable) -> None:
    """A tailing reader sees an appended row at once, long before its time is up."""
    with WireClient.of(lakeward.bootstrap) as reader:
        waiting = reader.send(Api.FETCH_LOG, table.fetch_request(100, max_wait_ms=FOREVER_MS, min_bytes=1))
        assert table.append(ids_batch([100])) == 100
        assert batches(only_bucket(reader.answer(waiting)).records) == [100]


def test_a_waiting_fetch_holds_up_nothing(lakeward: ServerProcess, table: WireTable) -> None:
    """Requests behind a waiting fetch on the same connection are answered, its own append included."""
    tablet = table.cluster.tablet
    waiting = tablet.send(Api.FETCH_LOG, table.fetch_request(100, max_wait_ms=FOREVER_MS, min_bytes=1))
    assert table.offset(LATEST) == 100
    assert table.append(ids_batch([1]), bucket=1) == 0
    assert table.append(ids_batch([100])) == 100
    assert batches(only_bucket(tablet.answer(waiting)).records) == [100]


def test_any_of_its_buckets_wakes_a_fetch(lakeward: ServerProcess, table: WireTable) -> None:
    """A fetch of several buckets is woken by rows in one of them."""
    tablet = table.cluster.tablet
    waiting = tablet.send(Api.FETCH_LOG, table.fetch_request(100, 0, max_wait_ms=FOREVER_MS, min_bytes=1))
    table.append(ids_batch([5]), bucket=1)
    first, second = tablet.answer(waiting).tables_resp[0].buckets_resp
    assert (bytes(first.records), batches(second.records)) == (b"", [0])


def test_many_readers_are_woken_by_one_append(lakeward: ServerProcess, table: WireTable) -> None:
    """Every fetch that waits for a bucket gets the new rows."""
    readers = [WireClient.of(lakeward.bootstrap) for _ in range(20)]
    request = table.fetch_request(100, max_wait_ms=FOREVER_MS, min_bytes=1)
    waiting = [reader.send(Api.FETCH_LOG, request) for reader in readers]
    table.append(ids_batch([100]))
    for reader, request_id in zip(readers, waiting, strict=True):
        assert batches(only_bucket(reader.answer(request_id)).records) == [100]
        reader.close()


def test_too_few_bytes_do_not_end_the_wait(lakeward: ServerProcess, table: WireTable) -> None:
    """A fetch that wants a number of bytes waits until they are there, over several appends."""
    tablet = table.cluster.tablet
    wanted = 3 * BATCH_BYTES
    waiting = tablet.send(Api.FETCH_LOG, table.fetch_request(100, max_wait_ms=FOREVER_MS, min_bytes=wanted))
    for first in (100, 110, 120):
        table.append(ids_batch(range(first, first + 10)))
    assert batches(only_bucket(tablet.answer(waiting)).records) == [100, 110, 120]


def test_when_time_is_up_there_is_an_empty_answer(table: WireTable) -> None:
    """A fetch whose wait ends without rows is answered without rows and without an error."""
    answer = table.fetch(100, max_wait_ms=20, min_bytes=1)
    assert (bytes(answer.records), answer.error_code, answer.high_watermark) == (b"", None, 100)


@pytest.mark.parametrize("how", [{}, {"max_wait_ms": 0, "min_bytes": 1}, {"max_wait_ms": FOREVER_MS, "min_bytes": 0}])
def test_who_does_not_wait_is_answered_at_once(table: WireTable, how: dict[str, int]) -> None:
    """Without a minimum, or without time, a fetch is never parked."""
    assert bytes(table.fetch(100, **how).records) == b""


def test_enough_bytes_are_answered_at_once(table: WireTable) -> None:
    """Who finds what it wants does not wait."""
    assert batches(table.fetch(90, max_wait_ms=FOREVER_MS, min_bytes=BATCH_BYTES).records) == [90]


def test_dropping_a_table_wakes_its_readers(lakeward: ServerProcess, cluster: WireCluster, database: str) -> None:
    """A fetch that waits for a table that goes is told so, not left waiting."""
    table = WireTable.create(cluster, database, "going")
    waiting = cluster.tablet.send(Api.FETCH_LOG, table.fetch_request(0, max_wait_ms=FOREVER_MS, min_bytes=1))
    table.drop()
    code = only_bucket(cluster.tablet.answer(waiting)).error_code
    assert code in {ErrorCode.NOT_LEADER_OR_FOLLOWER.value, ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value}


def test_a_reader_that_leaves_while_waiting_is_forgotten(lakeward: ServerProcess, table: WireTable) -> None:
    """Its wait ends with its connection; the append that would have woken it succeeds."""
    for _ in range(5):
        with WireClient.of(lakeward.bootstrap) as reader:
            reader.send(Api.FETCH_LOG, table.fetch_request(100, max_wait_ms=FOREVER_MS, min_bytes=1))
    assert table.append(ids_batch([100])) == 100


# -- projection


@pytest.fixture
def wide(cluster: WireCluster, database: str) -> WireTable:
    """A table with a column of every shape, holding one batch per codec."""
    schema = schema_to_json(schema_of_arrow(EVERY_SHAPE.schema))
    table = WireTable.create(cluster, database, "wide", schema=schema)
    for codec in (None, "lz4", "zstd"):
        table.append(arrow_batch(EVERY_SHAPE, codec))
    return table


@pytest.mark.parametrize(
    "columns", [(0,), (14,), (4, 5), (0, 14), (11, 12, 13), (1, 3, 5, 7, 9, 11, 13), tuple(range(15))], ids=str
)
def test_any_set_of_columns_can_be_asked_for(
    lakeward: ServerProcess, wide: WireTable, columns: tuple[int, ...]
) -> None:
    """Flat and nested columns, neighbours or not, come in every codec as they were written."""
    kept = EVERY_SHAPE.select(list(columns))
    records = wide.fetch(columns=columns).records
    assert batches(records) == [0, 3, 6]
    assert read_rows(records, kept.schema) == kept.to_pylist() * 3


@pytest.mark.parametrize("columns", [(), (15,), (0, 99), (-1,), (3, 3), (5, 2)], ids=str)
def test_columns_that_cannot_be_sent_are_refused(wide: WireTable, columns: tuple[int, ...]) -> None:
    """No columns, unknown, doubled or unsorted ones are refused in the bucket's answer or for the whole request."""
    request = wide.fetch_request(0, columns=columns)
    frame = wide.cluster.tablet.frame_of(wide.cluster.tablet.send(Api.FETCH_LOG, request))
    if frame.kind == 0:
        from lakeward.protocol.codec import decode

        assert only_bucket(decode(Api.FETCH_LOG.response, frame.body)).error_code
    else:
        assert frame.error.error_code


def test_projected_answers_keep_to_the_limits(lakeward: ServerProcess, wide: WireTable) -> None:
    """A projected fetch sends whole batches too, and at least one."""
    assert batches(wide.fetch(columns=(0,), bucket_bytes=1).records) == [0]
    assert batches(wide.fetch(4, columns=(0,), bucket_bytes=1).records) == [3]


def test_a_projected_tail_is_woken(lakeward: ServerProcess, wide: WireTable) -> None:
    """Waiting works with columns as without."""
    tablet = wide.cluster.tablet
    request = wide.fetch_request(9, columns=(2,), max_wait_ms=FOREVER_MS, min_bytes=1)
    waiting = tablet.send(Api.FETCH_LOG, request)
    wide.append(arrow_batch(EVERY_SHAPE))
    rows = read_rows(only_bucket(tablet.answer(waiting)).records, pa.schema([("big", pa.int64())]))
    assert rows == EVERY_SHAPE.select(["big"]).to_pylist()


# -- filters


def leaf(function: int, value: int) -> PbPredicate:
    """A comparison of the first column with a number."""
    literal = PbLiteralValue(literal_type=4, is_null=False, bigint_value=value)
    return PbPredicate(type=0, leaf=PbLeafPredicate(function=function, field_id=0, literals=(literal,)))


def test_a_filter_is_accepted(table: WireTable) -> None:
    """Filters only help to skip batches: whoever sends one gets at least the rows that match."""
    records = table.fetch(0, filter_predicate=leaf(5, 50), filter_schema_id=1).records
    ids = {row["id"] for row in read_rows(records, IDS)}
    assert ids >= set(range(50, 100))


@pytest.mark.parametrize("change_types", [None, bytes(5)])
@pytest.mark.parametrize("magic", [1, 2])
def test_a_filter_skips_whole_batches_by_their_statistics(
    cluster: WireCluster, database: str, magic: int, change_types: bytes | None
) -> None:
    """Batches that cannot match stay away, also those of a writer that says of each row that it was appended."""
    table = WireTable.create(cluster, database, f"pruned_{magic}_{change_types is None}")
    for first in (0, 5):
        statistics = encode_statistics([ColumnStatistics(0, 0, first, first + 4)], [BIGINT()])
        rows = pa.record_batch({"id": pa.array(range(first, first + 5), pa.int64())})
        table.append(arrow_batch(rows, magic=magic, statistics=statistics, change_types=change_types))
    above, below = (table.fetch(0, filter_predicate=leaf(f, 4), filter_schema_id=1) for f in (4, 3))
    assert (batches(above.records), above.filtered_end_offset) == ([5], None)
    assert (batches(below.records), below.filtered_end_offset) == ([0], 10)


def test_a_filter_needs_its_schema(lakeward: ServerProcess, cluster: WireCluster, database: str) -> None:
    """A predicate without the id of the schema it was made for is refused as a whole."""
    table = WireTable.create(cluster, database, "filtered")
    code = cluster.tablet.error_code(Api.FETCH_LOG, table.fetch_request(0, filter_predicate=leaf(0, 1)))
    assert code == ErrorCode.UNKNOWN_SERVER_ERROR.value


# -- offsets, limits, statistics


def test_offsets_are_found_by_kind_and_time(table: WireTable) -> None:
    """Earliest, latest, and the first batch at or after a time."""
    assert table.offset(EARLIEST) == 0
    assert table.offset(LATEST) == 100
    headers = [span.header for span in walk_batches(table.fetch().records)]
    for header in headers:
        first = next(h.base_offset for h in headers if h.commit_timestamp_ms >= header.commit_timestamp_ms)
        assert table.offset(AT_TIME, time_ms=header.commit_timestamp_ms) == first
    assert table.offset(AT_TIME, time_ms=0) == 0
    time.sleep(0.002)  # the clock must move on from the last append
    assert table.offset(AT_TIME, time_ms=headers[-1].commit_timestamp_ms + 1) == 100
    assert [table.offset(kind, bucket=1) for kind in (EARLIEST, LATEST)] == [0, 0]


@pytest.mark.parametrize(("kind", "time_ms", "code"), [(2, 10**15, 38), (2, None, -1), (9, None, -1)])
def test_offsets_that_make_no_sense_are_refused(table: WireTable, kind: int, time_ms: int | None, code: int) -> None:
    """The future is INVALID_TIMESTAMP in the bucket; a missing time or an unknown kind refuses the request."""
    request = ListOffsetsRequest(
        follower_server_id=-1, offset_type=kind, table_id=table.table_id, bucket_id=(0,), start_timestamp=time_ms
    )
    tablet = table.cluster.tablet
    frame = tablet.frame_of(tablet.send(Api.LIST_OFFSETS, request))
    if frame.kind:
        assert frame.error.error_code == code
    else:
        from lakeward.protocol.codec import decode

        (bucket,) = decode(Api.LIST_OFFSETS.response, frame.body).buckets_resp
        assert bucket.error_code == code


def test_offsets_of_several_buckets(table: WireTable) -> None:
    """One answer per bucket that was named, also for those that are not there."""
    request = ListOffsetsRequest(follower_server_id=-1, offset_type=1, table_id=table.table_id, bucket_id=(1, 0, 5))
    answers = {a.bucket_id: a for a in table.cluster.tablet.call(Api.LIST_OFFSETS, request).buckets_resp}
    assert (answers[0].offset, answers[1].offset) == (100, 0)
    assert answers[5].error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value


@pytest.mark.parametrize(("limit", "first"), [(1, 90), (10, 90), (11, 80), (95, 0), (1000, 0)])
def test_a_limit_scan_gives_the_newest_rows(table: WireTable, limit: int, first: int) -> None:
    """Whole batches from the one that holds the oldest row asked for; the client cuts them to size."""
    request = LimitScanRequest(table_id=table.table_id, bucket_id=0, limit=limit)
    answer = table.cluster.tablet.call(Api.LIMIT_SCAN, request)
    assert answer.error_code is None
    assert answer.is_log_table
    assert batches(answer.records)[0] == first
    assert batches(answer.records)[-1] == 90


def test_a_limit_scan_of_nothing(table: WireTable) -> None:
    """An empty bucket gives no rows; an unknown one an error inside the answer."""
    tablet = table.cluster.tablet
    empty = tablet.call(Api.LIMIT_SCAN, LimitScanRequest(table_id=table.table_id, bucket_id=1, limit=5))
    assert (empty.error_code, bytes(empty.records or b"")) == (None, b"")
    unknown = tablet.call(Api.LIMIT_SCAN, LimitScanRequest(table_id=table.table_id, bucket_id=9, limit=5))
    assert unknown.error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value


def test_statistics_count_the_rows(lakeward: ServerProcess, table: WireTable) -> None:
    """The rows of each bucket that was named."""
    buckets = tuple(PbTableStatsReqForBucket(bucket_id=number) for number in (0, 1, 2))
    answer = table.cluster.tablet.call(
        Api.GET_TABLE_STATS, GetTableStatsRequest(table_id=table.table_id, buckets_req=buckets)
    )
    rows = {bucket.bucket_id: (bucket.row_count, bucket.error_code) for bucket in answer.buckets_resp}
    assert rows == {0: (100, None), 1: (0, None), 2: (None, ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value)}
