"""PRODUCE_LOG: what is accepted, what is refused, and with which code."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch, ids_batch, read_rows
from raw_batches import raw_batch
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import ID, LATEST, WireTable

from lakeward.errors import ErrorCode
from lakeward.model import data_types as t
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import PbProduceLogReqForBucket, ProduceLogRequest
from lakeward.records.arrow.row_batches import encode_records
from lakeward.records.batch.log_batch import seal, walk_batches
from lakeward.records.row import compacted_row, indexed_row
from lakeward.runtime.clock import SystemClock

IDS = pa.schema([("id", pa.int64())])


@pytest.fixture
def table(cluster: WireCluster, database: str) -> WireTable:
    """A log table of one BIGINT column with three buckets."""
    return WireTable.create(cluster, database, "t", bucket_count=3)


def stored_ids(table: WireTable, bucket: int = 0) -> list[int]:
    """All ids in a bucket."""
    return [row["id"] for row in read_rows(table.fetch(bucket=bucket).records, IDS)]


def code_of(table: WireTable, payload: bytes | bytearray, **how: int) -> int | None:
    """The code with which an append is refused, or None."""
    return table.produce(payload, **how).error_code


@pytest.mark.parametrize("acks", [0, 1, -1])
def test_every_level_of_acknowledgement_is_answered(table: WireTable, acks: int) -> None:
    """Even who wants no acknowledgement gets an answer, because clients wait for one."""
    assert table.append(ids_batch([1, 2]), acks=acks) == 0
    assert table.append(ids_batch([3]), acks=acks) == 2
    assert stored_ids(table) == [1, 2, 3]


def test_another_level_is_refused_as_a_whole(table: WireTable) -> None:
    """An unknown level of acknowledgement is an error of the request, and nothing is appended."""
    code = table.cluster.tablet.error_code(Api.PRODUCE_LOG, table.produce_request(ids_batch([1]), acks=7))
    assert code == ErrorCode.INVALID_REQUIRED_ACKS.value
    assert table.offset(LATEST) == 0


def test_several_buckets_in_one_request(table: WireTable) -> None:
    """Each bucket is answered by itself, one bad payload does not harm the others."""
    damaged = ids_batch([9])
    damaged[-1] ^= 1
    request = table.produce_request(ids_batch([1]), damaged, ids_batch([2, 3]))
    answers = {b.bucket_id: b for b in table.cluster.tablet.call(Api.PRODUCE_LOG, request).buckets_resp}
    assert sorted(answers) == [0, 1, 2]
    assert (answers[0].base_offset, answers[0].error_code) == (0, None)
    assert answers[1].error_code == ErrorCode.CORRUPT_RECORD.value
    assert (answers[2].base_offset, answers[2].error_code) == (0, None)
    assert [table.offset(LATEST, bucket=b) for b in range(3)] == [1, 0, 2]


def test_several_batches_in_one_payload(table: WireTable) -> None:
    """The batches of a payload are appended together; the answer is the offset of the first."""
    table.append(ids_batch([0]))
    assert table.append(ids_batch([1, 2]) + ids_batch([3]) + ids_batch([4, 5])) == 1
    assert stored_ids(table) == [0, 1, 2, 3, 4, 5]


def test_the_server_numbers_and_stamps_what_it_stores(table: WireTable) -> None:
    """Offsets and commit times of the stored batches are the server's, whatever the client wrote there."""
    before_ms = SystemClock().now_ms()
    for _ in range(3):
        table.append(ids_batch([1, 2], base_offset=77))
    headers = [span.header for span in walk_batches(table.fetch().records)]
    assert [header.base_offset for header in headers] == [0, 2, 4]
    times = [header.commit_timestamp_ms for header in headers]
    assert times == sorted(times)
    assert before_ms <= times[0] <= times[-1] <= SystemClock().now_ms()


# -- refusals


def test_a_damaged_batch_is_refused_and_not_stored(table: WireTable) -> None:
    """One flipped bit anywhere behind the stamped fields is CORRUPT_RECORD."""
    good = ids_batch([1])
    for place in (22, 25, 30, 44, len(good) - 1):
        bad = bytearray(good)
        bad[place] ^= 4
        assert code_of(table, bad) == ErrorCode.CORRUPT_RECORD.value
    assert table.offset(LATEST) == 0


@pytest.mark.parametrize("size", [0, 1, 47, 48, 100])
def test_a_cut_batch_is_refused(lakeward: ServerProcess, table: WireTable, size: int) -> None:
    """A payload that ends inside a batch is refused as a whole."""
    assert code_of(table, ids_batch([1])[:size]) == ErrorCode.CORRUPT_RECORD.value
    assert table.offset(LATEST) == 0


def test_a_bad_batch_behind_a_good_one_refuses_both(lakeward: ServerProcess, table: WireTable) -> None:
    """A payload is stored whole or not at all."""
    assert code_of(table, ids_batch([1]) + ids_batch([2])[:-1]) == ErrorCode.CORRUPT_RECORD.value
    assert table.offset(LATEST) == 0


@pytest.mark.parametrize("schema_id", [-1, 0, 2, 32767])
def test_a_schema_that_is_not_there_is_refused(lakeward: ServerProcess, table: WireTable, schema_id: int) -> None:
    """Rows that nobody could read are not stored."""
    assert code_of(table, ids_batch([1], schema_id=schema_id)) == ErrorCode.SCHEMA_NOT_EXIST.value
    assert table.offset(LATEST) == 0


def test_rows_of_other_columns_are_refused(lakeward: ServerProcess, table: WireTable) -> None:
    """A batch with a right checksum and the wrong columns is refused before it can spoil the table for readers."""
    for columns in ({"id": ["text"]}, {"id": [1], "more": [2]}, {"id": [[1, 2]]}):
        assert code_of(table, arrow_batch(pa.record_batch(columns))) == ErrorCode.INVALID_TARGET_COLUMN.value
    assert code_of(table, raw_batch(1, b"not arrow at all")) == ErrorCode.INVALID_TARGET_COLUMN.value
    lying = ids_batch([1, 2, 3])
    lying[44:48] = (8).to_bytes(4, "little")
    lying[28:32] = (7).to_bytes(4, "little")
    seal(lying)
    assert code_of(table, lying) == ErrorCode.INVALID_TARGET_COLUMN.value
    assert table.offset(LATEST) == 0


@pytest.mark.parametrize("bucket", [3, 99, -1, 2**31 - 1])
def test_a_bucket_that_is_not_there_is_refused(table: WireTable, bucket: int) -> None:
    """A bucket outside the table is UNKNOWN_TABLE_OR_BUCKET, in the bucket's own answer."""
    answer = table.produce(ids_batch([1]), bucket=bucket)
    assert answer.bucket_id == bucket
    assert answer.error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value


def test_a_table_that_is_not_there_is_refused(table: WireTable) -> None:
    """An id that no table ever had is UNKNOWN_TABLE_OR_BUCKET."""
    records = bytes(ids_batch([1]))
    request = ProduceLogRequest(
        acks=-1,
        table_id=10**15,
        timeout_ms=1000,
        buckets_req=(PbProduceLogReqForBucket(bucket_id=0, records=records),),
    )
    (answer,) = table.cluster.tablet.call(Api.PRODUCE_LOG, request).buckets_resp
    assert answer.error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value


def test_a_partition_where_there_is_none_is_refused(table: WireTable) -> None:
    """A plain table has no partitions; the answer repeats the partition that was asked for."""
    answer = table.produce(ids_batch([1]), partition=5)
    assert answer.error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value
    assert answer.partition_id == 5


def test_a_dropped_table_takes_no_rows(cluster: WireCluster, database: str) -> None:
    """Appends under the old id are refused with a code that clients know, and a new table of that name is empty."""
    old = WireTable.create(cluster, database, "dropped")
    old.append(ids_batch([1]))
    old.drop()
    new = WireTable.create(cluster, database, "dropped")
    assert new.table_id != old.table_id
    assert code_of(old, ids_batch([2])) in {
        ErrorCode.NOT_LEADER_OR_FOLLOWER.value,
        ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value,
    }
    assert new.offset(LATEST) == 0


# -- idempotence


def test_a_batch_sent_again_is_stored_once(table: WireTable) -> None:
    """A retry of any of the last five batches gets the offset of the first time."""
    writer = table.new_writer()
    batches = [ids_batch([n, n], writer_id=writer, sequence=n) for n in range(7)]
    offsets = [table.append(batch) for batch in batches]
    assert offsets == [0, 2, 4, 6, 8, 10, 12]
    for number in (6, 2, 4, 3, 5):
        assert table.append(batches[number]) == offsets[number]
    assert table.offset(LATEST) == 14


def test_writers_do_not_disturb_each_other(table: WireTable) -> None:
    """Each writer counts for itself, in each bucket anew."""
    first, second = table.new_writer(), table.new_writer()
    assert first != second
    for sequence in range(3):
        for writer in (first, second):
            for bucket in (0, 2):
                table.append(ids_batch([writer], writer_id=writer, sequence=sequence), bucket=bucket)
    assert [table.offset(LATEST, bucket=b) for b in range(3)] == [6, 0, 6]


def test_a_batch_older_than_five_is_refused(table: WireTable) -> None:
    """What is too old to be remembered is OUT_OF_ORDER_SEQUENCE."""
    writer = table.new_writer()
    for sequence in range(7):
        table.append(ids_batch([1], writer_id=writer, sequence=sequence))
    assert code_of(table, ids_batch([1], writer_id=writer, sequence=1)) == ErrorCode.OUT_OF_ORDER_SEQUENCE.value
    assert table.offset(LATEST) == 7


def test_a_gap_that_does_not_close_is_refused(table: WireTable) -> None:
    """A batch whose predecessor never comes is OUT_OF_ORDER_SEQUENCE, and its number is not used up."""
    writer = table.new_writer()
    table.append(ids_batch([0], writer_id=writer, sequence=0))
    early = ids_batch([2], writer_id=writer, sequence=2)
    assert code_of(table, early, timeout_ms=100) == ErrorCode.OUT_OF_ORDER_SEQUENCE.value
    assert code_of(table, ids_batch([9], writer_id=table.new_writer(), sequence=3), timeout_ms=100) == 31
    table.append(ids_batch([1], writer_id=writer, sequence=1))
    table.append(early)
    assert stored_ids(table) == [0, 1, 2]


def test_batches_that_overtook_each_other_are_put_in_order(lakeward: ServerProcess, table: WireTable) -> None:
    """Five batches in flight may arrive in any order; they are stored in theirs, and each is answered."""
    tablet, writer = table.cluster.tablet, table.new_writer()
    order = [1, 4, 3, 2, 0]
    requests = [
        (Api.PRODUCE_LOG, table.produce_request(ids_batch([n, n], writer_id=writer, sequence=n))) for n in order
    ]
    ids = dict(zip(order, tablet.send_all(requests), strict=True))
    offsets = [tablet.answer(ids[n]).buckets_resp[0].base_offset for n in range(5)]
    assert offsets == [0, 2, 4, 6, 8]
    assert stored_ids(table) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def test_an_early_batch_sent_twice_is_stored_once(lakeward: ServerProcess, table: WireTable) -> None:
    """A retry of a batch that still waits for its predecessor is answered together with it."""
    tablet, writer = table.cluster.tablet, table.new_writer()
    early = (Api.PRODUCE_LOG, table.produce_request(ids_batch([1], writer_id=writer, sequence=1)))
    first, second = tablet.send_all([early, early])
    table.append(ids_batch([0], writer_id=writer, sequence=0))
    assert tablet.answer(first).buckets_resp[0].base_offset == 1
    assert tablet.answer(second).buckets_resp[0].base_offset == 1
    assert stored_ids(table) == [0, 1]


def test_an_early_batch_does_not_hold_up_other_requests(lakeward: ServerProcess, table: WireTable) -> None:
    """While a batch waits, the same connection appends and reads elsewhere."""
    tablet, writer = table.cluster.tablet, table.new_writer()
    early = tablet.send(Api.PRODUCE_LOG, table.produce_request(ids_batch([1], writer_id=writer, sequence=1)))
    assert table.append(ids_batch([7]), bucket=1) == 0
    assert stored_ids(table, bucket=1) == [7]
    table.append(ids_batch([0], writer_id=writer, sequence=0))
    assert tablet.answer(early).buckets_resp[0].base_offset == 1


def test_the_batches_of_a_payload_must_follow_each_other(table: WireTable) -> None:
    """Consecutive numbers in one payload are fine, a gap inside it is OUT_OF_ORDER_SEQUENCE."""
    writer = table.new_writer()
    assert table.append(b"".join(ids_batch([n], writer_id=writer, sequence=n) for n in (0, 1, 2))) == 0
    gap = b"".join(ids_batch([n], writer_id=writer, sequence=n) for n in (3, 5))
    assert code_of(table, gap, timeout_ms=100) == ErrorCode.OUT_OF_ORDER_SEQUENCE.value
    assert table.offset(LATEST) == 3


# -- other formats


@pytest.mark.parametrize("log_format", ["INDEXED", "COMPACTED"])
def test_row_formats_are_stored_as_they_come(cluster: WireCluster, database: str, log_format: str) -> None:
    """A log of rows that are not Arrow takes and gives back the very bytes of a batch."""
    table = WireTable.create(
        cluster, database, f"rows_{log_format.lower()}", ID, properties={"table.log.format": log_format}
    )
    codec = (compacted_row if log_format == "COMPACTED" else indexed_row).codec((t.BIGINT(),))
    batch = raw_batch(2, encode_records([bytes(codec.encode((1,))), bytes(codec.encode((None,)))]))
    table.append(batch)
    assert bytes(table.fetch().records)[21:] == batch[21:]
    refused = table.fetch(columns=(0,)).error_code
    assert refused == ErrorCode.INVALID_COLUMN_PROJECTION.value


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("magic", [0, 1, 2])
def test_codecs_and_header_versions_may_be_mixed(
    lakeward: ServerProcess, table: WireTable, codec: str | None, magic: int
) -> None:
    """What the table's properties say about compression binds the writer; the server takes every batch."""
    table.append(ids_batch(range(100), codec, magic=magic))
    table.append(ids_batch(range(100)))
    assert stored_ids(table) == [*range(100), *range(100)]
