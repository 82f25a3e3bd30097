"""Poison is refused on append: batches with a right checksum that readers could not read."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch
from poison_batches import LOG_POISON, ROWS, SCHEMA_JSON, forged
from pyfluss_session import Session, error_code, scan
from raw_batches import raw_batch
from server_process import ServerProcess
from wire_client import WireCluster
from wire_tables import LATEST, WireTable

from lakeward import connect
from lakeward.errors import ErrorCode
from lakeward.model import data_types as t
from lakeward.protocol.api import Api
from lakeward.records.arrow.row_batches import encode_records
from lakeward.records.batch.log_batch import reseal
from lakeward.records.row import compacted_row, indexed_row

REFUSED = ErrorCode.INVALID_TARGET_COLUMN.value
STRUCTURE = [name for name, (_, _, is_contents) in LOG_POISON.items() if not is_contents]


@pytest.fixture
def table(cluster: WireCluster, database: str) -> WireTable:
    """A log table with every kind of column."""
    return WireTable.create(cluster, database, "t", schema=SCHEMA_JSON, bucket_count=2)


def test_the_catalogue_is_long() -> None:
    """There are more kinds of poison than the 31 that were found first."""
    assert len(LOG_POISON) > 60


@pytest.mark.parametrize("name", LOG_POISON)
def test_poison_is_refused_by_name(table: WireTable, name: str) -> None:
    """The answer names table and bucket, nothing is stored, and the next good batch goes through."""
    answer = table.produce(forged(name))
    assert answer.error_code == REFUSED, answer
    assert f"Bucket 0 of table {table.path.database_name}.t refuses a batch" in answer.error_message
    assert table.offset(LATEST) == 0
    assert table.append(arrow_batch(ROWS)) == 0


def test_structure_alone_is_checked_when_the_server_is_told_so(new_server: Callable[..., ServerProcess]) -> None:
    """With `log.batch.check=structure` what readers trust with their memory is still refused, all of it."""
    server = new_server(log__batch__check="structure")
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireTable.create(cluster, "fluss", "t", schema=SCHEMA_JSON)
        for name in STRUCTURE:
            assert table.produce(forged(name)).error_code == REFUSED, name
        assert table.append(forged("a_decimal_of_too_many_digits")) == 0


def test_other_buckets_of_the_request_go_through(table: WireTable) -> None:
    """Poison for one bucket is that bucket's own trouble."""
    request = table.produce_request(forged("offsets_that_fall"), arrow_batch(ROWS))
    poisoned, good = table.cluster.tablet.call(Api.PRODUCE_LOG, request).buckets_resp
    assert (poisoned.error_code, good.error_code) == (REFUSED, None)
    assert [table.offset(LATEST, bucket=b) for b in range(2)] == [0, 3]


def test_poison_behind_a_good_batch_refuses_both(table: WireTable) -> None:
    """A payload is stored whole or not at all."""
    assert table.produce(arrow_batch(ROWS) + forged("text_that_is_not_utf8")).error_code == REFUSED
    assert table.offset(LATEST) == 0


def test_a_refused_batch_takes_no_sequence_number(table: WireTable) -> None:
    """The writer goes on with the number that was refused."""
    writer = table.new_writer()
    table.append(arrow_batch(ROWS, writer_id=writer, sequence=0))
    poison = bytearray(forged("two_billion_rows"))
    reseal(poison, writer, 1)
    assert table.produce(poison).error_code == REFUSED
    assert table.append(arrow_batch(ROWS, writer_id=writer, sequence=1)) == 3


async def test_readers_read_a_table_that_was_attacked(session: Session, table: WireTable) -> None:
    """pyfluss, our client and DuckDB see the good rows, and only these, after every kind of poison was tried."""
    for name in LOG_POISON:
        table.produce(forged(name))
    table.append(arrow_batch(ROWS))
    assert (await scan(await session.table("t"))).to_pylist() == ROWS.to_pylist()
    with connect(session.bootstrap) as conn:
        found = conn.table(f"{session.database}.t")
        assert found.scan().to_arrow().to_pylist() == ROWS.to_pylist()
        assert found.query("SELECT count(*) AS n, min(price) AS p FROM t").to_pylist() == [
            {"n": 3, "p": Decimal("-999.99")}
        ]


async def test_pyfluss_is_told_at_once(session: Session) -> None:
    """A batch that is refused fails at the client that sent it, instead of being sent for ever."""
    table = await session.create("prices", pa.schema([("price", pa.decimal128(5, 2))]))
    writer = table.new_append().create_writer()
    unfit = pa.py_buffer((10**17).to_bytes(16, "little"))
    prices = pa.Array.from_buffers(pa.decimal128(5, 2), 1, [None, unfit])
    sent = writer.write_arrow_batch(pa.record_batch([prices], names=["price"]))
    assert await error_code(sent.wait()) == REFUSED


@pytest.mark.parametrize("form", ["COMPACTED", "INDEXED"])
def test_poison_in_rows_is_refused(cluster: WireCluster, database: str, form: str) -> None:
    """Logs of rows: lengths, change types, cut rows, foreign bytes; what is right is taken."""
    columns = (("id", "BIGINT"), ("name", "STRING"))
    table = WireTable.create(cluster, database, "rows", *columns, properties={"table.log.format": form})
    codec = (compacted_row if form == "COMPACTED" else indexed_row).codec((t.BIGINT(), t.STRING()))
    rows = [bytes(codec.encode((1, "größer"))), bytes(codec.encode((None, "x")))]
    good = encode_records(rows)
    assert table.append(raw_batch(2, good)) == 0
    foreign = bytes(rows[0]).replace("ö".encode(), b"\xff\xfe")
    for body, count in (
        (good, 3),
        (good, 1),
        (good[:-1], 2),
        (b"\x7f" + good[1:], 2),
        (encode_records(rows, [0, 4]), 2),
        (encode_records([rows[0][:-2], rows[1]]), 2),
        (encode_records([rows[0] + b"\0"]), 1),
        (encode_records([foreign]), 1),
    ):
        assert table.produce(raw_batch(count, body)).error_code == REFUSED, body
    assert table.offset(LATEST) == 2
