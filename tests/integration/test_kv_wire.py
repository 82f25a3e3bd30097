"""Primary key tables over the wire: what only plain requests can ask for, and bad ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from arrow_batches import ids_batch
from server_process import ServerProcess
from wire_client import WireCluster
from wire_kv import COLUMNS, WireKv, play
from wire_tables import LATEST, WireTable, create_database

from lakeward.errors import ErrorCode
from lakeward.model import data_types as t
from lakeward.protocol.api import Api


@pytest.fixture
def table(cluster: WireCluster, database: str) -> WireKv:
    """A table with one bucket."""
    return WireKv.create(cluster, database, "rows")


def writer_of(table: WireKv) -> int:
    """A new idempotent writer."""
    return table.wire.new_writer()


# -- idempotence


def test_a_batch_sent_again_changes_nothing(table: WireKv) -> None:
    """It is answered with the offset it was answered with, also when others have written since."""
    writer = writer_of(table)
    first = table.batch([(1, "a", 1), (2, "b", 2)], writer_id=writer, sequence=0)
    assert table.put(first).log_end_offset == 2
    second = table.batch([(1, "c", 3), (2,)], writer_id=writer, sequence=1)
    assert table.put(second).log_end_offset == 5
    assert table.put(first).log_end_offset == 2
    assert table.put(second).log_end_offset == 5
    assert table.state() == {1: (1, "c", 3)}
    assert [kind for _, kind, _ in table.changelog()] == ["+I", "+I", "-U", "+U", "-D"]


def test_a_batch_that_changes_nothing_is_recognised_too(table: WireKv) -> None:
    """A delete of nothing takes one offset, so that its writer can go on."""
    writer = writer_of(table)
    batch = table.batch([(5,)], writer_id=writer, sequence=0)
    assert table.put(batch).log_end_offset == 1
    assert table.put(batch).log_end_offset == 1
    assert table.put(table.batch([(5, "x", 1)], writer_id=writer, sequence=1)).log_end_offset == 2
    assert [(offset, kind) for offset, kind, _ in table.changelog()] == [(1, "+I")]


def test_batches_that_overtake_each_other_wait(table: WireKv) -> None:
    """Three batches of a writer come in the wrong order and are written in the right one."""
    writer, tablet = writer_of(table), table.wire.cluster.tablet
    requests = [table.put_request(table.batch([(1, f"v{i}", i)], writer_id=writer, sequence=i)) for i in range(3)]
    asked = {i: tablet.send(Api.PUT_KV, requests[i]) for i in (2, 1, 0)}
    ends = [tablet.answer(asked[i]).buckets_resp[0].log_end_offset for i in range(3)]
    assert ends == [1, 3, 5]
    assert table.get(1) == [(1, "v2", 2)]


def test_a_gap_that_stays_is_refused(table: WireKv) -> None:
    """A batch whose predecessor never comes is answered when its time is up."""
    batch = table.batch([(1, "a", 1)], writer_id=writer_of(table), sequence=3)
    assert table.put(batch, timeout_ms=50).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE.value
    assert table.row_count() == 0


def test_a_writer_is_known_after_a_crash(new_server: Callable[..., ServerProcess]) -> None:
    """Resent batches are recognised by a server that was killed meanwhile."""
    server = new_server()
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "kept")
        table = WireKv.create(cluster, "kept", "rows")
        batch = table.batch([(1, "a", 1), (1, "b", 2)], writer_id=writer_of(table), sequence=0)
        assert table.put(batch).log_end_offset == 3
        path = table.wire.path
    server.restart(kill=True)
    with WireCluster.of(server.bootstrap) as cluster:
        again = WireKv(WireTable.find(cluster, path))
        assert again.put(batch).log_end_offset == 3
        assert again.state() == {1: (1, "b", 2)}
        assert again.row_count() == 1
        assert again.wire.offset(LATEST) == 3


# -- scans


def test_a_scan_reads_the_state_of_its_beginning(table: WireKv) -> None:
    """Piece by piece, in key order, with the log's offset; writes that come meanwhile are not seen."""
    table.upsert(*[(i, f"row {i}", i) for i in range(500)])
    answer = table.open_scan(batch_bytes=2000)
    assert answer.log_offset == 500
    rows = table.rows_of(answer)
    table.upsert(*[(i, "later", 0) for i in range(400, 700)])
    for call in range(1, 1000):
        if not answer.has_more_results:
            break
        answer = table.scan_kv(scanner_id=answer.scanner_id, call_seq_id=call, batch_size_bytes=2000)
        assert answer.log_offset is None
        rows += table.rows_of(answer)
    assert {row[0]: row for row in rows} == {i: (i, f"row {i}", i) for i in range(500)}
    assert len(rows) == 500
    assert table.row_count() == 700


def test_a_scan_of_nothing_and_a_limited_one(table: WireKv) -> None:
    """An empty bucket is done at once; a limit ends a scan early."""
    empty = table.open_scan()
    assert (empty.has_more_results, empty.log_offset, empty.records) == (False, 0, None), "Java cannot read no bytes"
    table.upsert(*[(i, "x", i) for i in range(100)])
    limited = table.open_scan(limit=7)
    assert not limited.has_more_results
    assert [row[0] for row in table.rows_of(limited)] == list(range(7))


def test_scans_that_make_no_sense_are_refused(table: WireKv) -> None:
    """Each mistake has its code, and a mistake ends the scan it was made in."""
    table.upsert(*[(i, "x" * 50, i) for i in range(200)])

    def code(**fields: object) -> int:
        return table.scan_kv(**fields).error_code

    invalid, unknown = ErrorCode.INVALID_SCAN_REQUEST.value, ErrorCode.UNKNOWN_SCANNER_ID.value
    assert code(scanner_id=b"nobody", call_seq_id=1, batch_size_bytes=100) == unknown
    assert code(batch_size_bytes=100) == invalid
    assert table.open_scan(batch_bytes=0).error_code == invalid
    opened = table.open_scan(batch_bytes=100)
    assert code(scanner_id=opened.scanner_id, call_seq_id=2, batch_size_bytes=100) == invalid
    assert code(scanner_id=opened.scanner_id, call_seq_id=1, batch_size_bytes=100) == unknown
    closed = table.open_scan(batch_bytes=100)
    assert not code(scanner_id=closed.scanner_id, close_scanner=True)
    assert code(scanner_id=closed.scanner_id, call_seq_id=1, batch_size_bytes=100) == unknown
    assert table.open_scan(bucket=9).error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value
    many = [table.open_scan(batch_bytes=100) for _ in range(9)]
    assert [bool(one.error_code) for one in many] == [False] * 8 + [True]
    assert many[-1].error_code == ErrorCode.TOO_MANY_SCANNERS.value
    for one in many[:-1]:
        assert not code(scanner_id=one.scanner_id, close_scanner=True)
    assert len(table.state(batch_bytes=3000)) == 200


# -- bad input


def test_log_tables_have_no_keys(cluster: WireCluster, database: str) -> None:
    """Puts, lookups and scans of state on a log table are refused; so are appends to a primary key table."""
    plain = WireKv(WireTable.create(cluster, database, "plain"))
    no_key = ErrorCode.NON_PRIMARY_KEY_TABLE.value
    assert no_key == 20
    assert plain.put(plain.batch([(1, "a", 1)])).error_code == no_key
    assert plain.look_up(1).error_code == no_key
    assert plain.open_scan().error_code == no_key
    keyed = WireKv.create(cluster, database, "keyed")
    assert keyed.wire.produce(ids_batch([1])).error_code
    assert keyed.wire.offset(LATEST) == 0


@pytest.mark.parametrize("damage", ["crc", "cut", "longer", "magic", "count"])
def test_damaged_batches_change_nothing(table: WireKv, damage: str) -> None:
    """A batch that is not what it claims to be is refused as corrupt."""
    table.upsert((1, "a", 1))
    batch = table.batch([(1, "b", 2), (2, "c", 3)])
    match damage:
        case "crc":
            batch[-1] ^= 1
        case "cut":
            del batch[-3:]
        case "longer":
            batch += b"more"
        case "magic":
            batch[4] = 9
        case _:
            batch[24] = 200
    assert table.put(batch).error_code == ErrorCode.CORRUPT_RECORD.value
    assert table.state() == {1: (1, "a", 1)}
    assert table.wire.offset(LATEST) == 1


@pytest.mark.parametrize("schema_id", [0, 2, 99, -1])
def test_a_schema_the_table_never_had(table: WireKv, schema_id: int) -> None:
    """Rows of an unknown schema cannot be read and are refused."""
    answer = table.put(table.batch([(1, "a", 1)], schema_id=schema_id))
    assert answer.error_code == ErrorCode.SCHEMA_NOT_EXIST.value
    assert table.row_count() == 0


def test_rows_that_do_not_fit(cluster: WireCluster, database: str) -> None:
    """NULL where there must be none, in one row of many: nothing of the batch is written."""
    columns = (*COLUMNS[:2], ("n", t.INT().not_null()))
    table = WireKv.create(cluster, database, "strict", columns)
    table.upsert((1, None, 1))
    loose = WireKv(table.wire)
    batch = loose.batch([(2, "b", 2), (3, "c", None), (1,)])
    assert table.put(batch).error_code == ErrorCode.INVALID_TARGET_COLUMN.value
    assert table.state() == {1: (1, None, 1)}
    partial = table.put(table.batch([(1, "x", 5)]), targets=(0, 1))
    assert partial.error_code == ErrorCode.INVALID_TARGET_COLUMN.value
    assert table.state() == {1: (1, None, 1)}


@pytest.mark.parametrize("targets", [(1,), (1, 2), (0, 7), (-1, 0)])
def test_target_columns_that_cannot_be(table: WireKv, targets: tuple[int, ...]) -> None:
    """Target columns without the key, or that are not there, are refused."""
    answer = table.put(table.batch([(1, "a", 1)]), targets=targets)
    assert answer.error_code == ErrorCode.INVALID_TARGET_COLUMN.value == 35
    assert table.row_count() == 0


def test_deletes_where_there_are_none(cluster: WireCluster, database: str) -> None:
    """Ignored by default with a merge engine, refused with the whole batch where they are disabled."""
    first = WireKv.create(cluster, database, "first", properties={"table.merge-engine": "first_row"})
    first.upsert((1, "a", 1))
    first.upsert((1,), (1, "b", 2), (2, "c", 3))
    assert first.state() == {1: (1, "a", 1), 2: (2, "c", 3)}
    never = WireKv.create(cluster, database, "never", properties={"table.delete.behavior": "disable"})
    never.upsert((1, "a", 1))
    refused = never.put(never.batch([(2, "b", 2), (1,)]))
    assert refused.error_code == ErrorCode.DELETION_DISABLED.value == 57
    assert never.state() == {1: (1, "a", 1)}


def test_requests_as_a_whole(table: WireKv) -> None:
    """Acknowledgements that do not exist, and buckets that do not."""
    batch, tablet = table.batch([(1, "a", 1)]), table.wire.cluster.tablet
    request = table.put_request(batch, acks=2)
    assert tablet.error_code(Api.PUT_KV, request) == ErrorCode.INVALID_REQUIRED_ACKS.value
    assert table.put(batch, bucket=5).error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value
    assert table.put(batch, table_id=10**9).error_code == ErrorCode.UNKNOWN_TABLE_OR_BUCKET.value
    assert table.row_count() == 0


def test_large_and_odd_keys(cluster: WireCluster, database: str) -> None:
    """A key of a megabyte, an empty one, and one with every byte of UTF-8."""
    table = WireKv.create(cluster, database, "texts", (("id", t.STRING().not_null()), ("n", t.INT())))
    keys = ["", "k" * (1 << 20), "ü\0🌍", "\x7f"]
    table.upsert(*[(key, i) for i, key in enumerate(keys)])
    assert table.get(*keys, "absent") == [*[(key, i) for i, key in enumerate(keys)], None]
    state: dict[object, tuple[object, ...]] = {}
    play(table.changelog(), state)
    assert state == table.state()


def test_one_key_many_times_in_a_batch(table: WireKv) -> None:
    """Each record sees what the one before it has left."""
    table.upsert((1, "a", 1), (1, "b", 2), (1,), (1,), (1, "c", 3), (2, "d", 4))
    assert [(kind, row[1]) for _, kind, row in table.changelog()] == [
        ("+I", "a"),
        ("-U", "a"),
        ("+U", "b"),
        ("-D", "b"),
        ("+I", "c"),
        ("+I", "d"),
    ]
    assert table.state() == {1: (1, "c", 3), 2: (2, "d", 4)}
