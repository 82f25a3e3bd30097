"""Rows written and read by the official client."""

from __future__ import annotations

import asyncio
import datetime as dt
from decimal import Decimal

import fluss
import pyarrow as pa
import pytest
from pyfluss_session import BEGINNING, EARLIEST, LATEST, Session, append, error_code, poll_records, records, scan

pytestmark = pytest.mark.oracle

UTC = dt.UTC
SIMPLE = pa.schema([("id", pa.int64()), ("name", pa.string()), ("score", pa.float64())])


def simple(first: int, count: int) -> pa.RecordBatch:
    """Rows that tell where they belong."""
    ids = range(first, first + count)
    return pa.record_batch(
        [pa.array(ids, pa.int64()), pa.array([f"row {i}" for i in ids]), pa.array([i / 2 for i in ids])], schema=SIMPLE
    )


#: Every type the client can write, a value and NULL each, nested ones with nulls inside.
TYPES = {
    "boolean": (pa.bool_(), [True, False]),
    "tinyint": (pa.int8(), [127, -128]),
    "smallint": (pa.int16(), [32767, -32768]),
    "int": (pa.int32(), [2**31 - 1, -(2**31)]),
    "bigint": (pa.int64(), [2**63 - 1, -(2**63)]),
    "float": (pa.float32(), [1.5, -0.25]),
    "double": (pa.float64(), [1e300, -1e-300]),
    "string": (pa.string(), ["", "Grüße, 世界 🌍" * 50]),
    "bytes": (pa.binary(), [b"", bytes(range(256))]),
    "binary": (pa.binary(4), [b"abcd", b"\x00\xff\x00\xff"]),
    "decimal small": (pa.decimal128(10, 2), [Decimal("12345678.90"), Decimal("-0.01")]),
    "decimal large": (pa.decimal128(38, 10), [Decimal("1234567890123456789012345678.0123456789"), Decimal("-1E-10")]),
    "date": (pa.date32(), [dt.date(2024, 2, 29), dt.date(1900, 1, 1)]),
    "time s": (pa.time32("s"), [dt.time(23, 59, 59), dt.time(0)]),
    "time ms": (pa.time32("ms"), [dt.time(23, 59, 59, 999000), dt.time(0)]),
    "timestamp s": (pa.timestamp("s"), [dt.datetime(2024, 1, 2, 3, 4, 5), dt.datetime(1969, 12, 31)]),
    "timestamp ms": (pa.timestamp("ms"), [dt.datetime(2024, 1, 2, 3, 4, 5, 6000), dt.datetime(1969, 12, 31)]),
    "timestamp us": (pa.timestamp("us"), [dt.datetime(2024, 1, 2, 3, 4, 5, 678901), dt.datetime(1969, 12, 31)]),
    "timestamp ns": (pa.timestamp("ns"), [dt.datetime(2024, 1, 2, 3, 4, 5, 678901), dt.datetime(1969, 12, 31)]),
    "instant us": (
        pa.timestamp("us", "UTC"),
        [dt.datetime(2024, 1, 2, tzinfo=UTC), dt.datetime(1950, 1, 1, tzinfo=UTC)],
    ),
    "array": (pa.list_(pa.int32()), [[1, None, 3], []]),
    "array of arrays": (pa.list_(pa.list_(pa.string())), [[["a"], None, []], [["b", None]]]),
    "row": (
        pa.struct([("n", pa.int32()), ("s", pa.string())]),
        [{"n": 1, "s": "x"}, {"n": None, "s": None}],
    ),
    "map": (pa.map_(pa.string(), pa.int64()), [[("k", 1), ("l", None)], []]),
    "map of rows": (
        pa.map_(pa.string(), pa.struct([("tags", pa.list_(pa.string()))])),
        [[("a", {"tags": ["x", None]}), ("b", None)], []],
    ),
}


@pytest.mark.parametrize("codec", ["NONE", "LZ4_FRAME", "ZSTD"])
async def test_every_type_comes_back_as_it_went(session: Session, codec: str) -> None:
    """All types, nested ones with nulls at every level, in each codec, as Arrow."""
    schema = pa.schema([(name.replace(" ", "_"), kind) for name, (kind, _) in TYPES.items()])
    table = await session.create("types", schema, properties={"table.log.arrow.compression.type": codec})
    columns = [pa.array([values[0], None, values[1]], kind) for kind, values in TYPES.values()]
    written = pa.record_batch(columns, schema=schema)
    await append(table, written, written)
    read = await scan(table)
    assert read.schema.names == schema.names
    assert read.to_pylist() == written.to_pylist() * 2


async def test_every_type_comes_back_row_by_row(session: Session) -> None:
    """The row writer and the record scanner agree with the Arrow ones."""
    schema = pa.schema([(name.replace(" ", "_"), kind) for name, (kind, _) in TYPES.items()])
    table = await session.create("types", schema)
    writer = table.new_append().create_writer()
    rows = [{f.name: values[place] for f, (_, values) in zip(schema, TYPES.values(), strict=True)} for place in (0, 1)]
    for row in (*rows, dict.fromkeys(schema.names)):
        writer.append(row)
    await writer.flush()
    assert (await scan(table)).slice(2).to_pylist() == [dict.fromkeys(schema.names)]
    found = await records(table, 3)
    assert [record.offset for record in found] == [0, 1, 2]
    assert {record.change_type.short_string() for record in found} == {"+A"}
    assert found[2].row == dict.fromkeys(schema.names)
    for record, row in zip(found, rows, strict=False):
        for name in (
            "boolean",
            "tinyint",
            "bigint",
            "double",
            "string",
            "bytes",
            "decimal_large",
            "date",
            "array",
            "row",
        ):
            assert record.row[name] == row[name], name


@pytest.mark.parametrize(
    "columns", [["id"], ["score", "id"], ["name"], ["score", "name", "id"], ["name", "score"]], ids="-".join
)
async def test_columns_come_in_the_order_asked_for(session: Session, columns: list[str]) -> None:
    """A scan of some columns, in any order, gives those columns in that order."""
    table = await session.create("projected", SIMPLE)
    await append(table, simple(0, 500), simple(500, 500))
    read = await scan(table, columns=columns)
    assert read.schema.names == columns
    assert read.to_pylist() == pa.Table.from_batches([simple(0, 1000)]).select(columns).to_pylist()


async def test_rows_are_spread_over_buckets(session: Session) -> None:
    """Without a bucket key the client spreads batches; every row is in one bucket, and offsets are dense in each."""
    table = await session.create("spread", SIMPLE, bucket_count=3)
    for first in range(0, 300, 10):
        await append(table, simple(first, 10))
    read = await scan(table, buckets=range(3))
    assert sorted(read["id"].to_pylist()) == list(range(300))
    ends = await session.admin.list_offsets(session.path("spread"), [0, 1, 2], LATEST)
    assert sum(ends.values()) == 300
    for bucket, end in ends.items():
        found = await records(table, end, [bucket])
        assert [record.offset for record in found] == list(range(end))


async def test_rows_of_a_key_meet_in_one_bucket(session: Session) -> None:
    """With a bucket key equal keys lie in the same bucket, in the order they were written."""
    table = await session.create("keyed", SIMPLE, bucket_count=4, bucket_keys=["name"])
    for turn in range(3):
        names = [f"key {i}" for i in range(40)]
        ids = [100 * turn + i for i in range(40)]
        await append(table, pa.record_batch([ids, names, [0.0] * 40], schema=SIMPLE))
    where: dict[str, set[int]] = {}
    for bucket in range(4):
        rows = (await scan(table, [bucket])).to_pylist()
        for row in rows:
            where.setdefault(row["name"], set()).add(bucket)
        for name in {row["name"] for row in rows}:
            ids = [row["id"] for row in rows if row["name"] == name]
            assert ids == sorted(ids)
            assert len(ids) == 3
    assert len(where) == 40
    assert all(len(buckets) == 1 for buckets in where.values())
    assert len(set.union(*where.values())) > 1


async def test_offsets_by_kind_and_by_time(session: Session) -> None:
    """Earliest, latest, and the offset at a time between two appends."""
    table = await session.create("offsets", SIMPLE)
    path, admin = session.path("offsets"), session.admin
    assert await admin.list_offsets(path, [0], LATEST) == {0: 0}
    await append(table, simple(0, 10))
    await asyncio.sleep(0.01)
    between = (await records(table, 10))[-1].timestamp + 1
    await append(table, simple(10, 5))
    assert await admin.list_offsets(path, [0], EARLIEST) == {0: 0}
    assert await admin.list_offsets(path, [0], LATEST) == {0: 15}
    assert await admin.list_offsets(path, [0], fluss.OffsetSpec.timestamp(0)) == {0: 0}
    assert await admin.list_offsets(path, [0], fluss.OffsetSpec.timestamp(between)) == {0: 10}
    future = fluss.OffsetSpec.timestamp(4_000_000_000_000)
    assert await error_code(admin.list_offsets(path, [0], future)) == fluss.ErrorCode.INVALID_TIMESTAMP_EXCEPTION
    assert (await scan(table, start=12))["id"].to_pylist() == [12, 13, 14]


async def test_a_limit_scan_gives_the_newest_rows(session: Session) -> None:
    """The last rows of a bucket, cut to the limit, with columns and without."""
    table = await session.create("limited", SIMPLE)
    await append(table, simple(0, 30), simple(30, 30))
    bucket = fluss.TableBucket(table.get_table_info().table_id, 0)
    newest = await table.new_scan().limit(7).create_bucket_batch_scanner(bucket).to_arrow()
    assert newest["id"].to_pylist() == list(range(53, 60))
    scanner = table.new_scan().project_by_name(["score", "id"]).limit(1000).create_bucket_batch_scanner(bucket)
    everything = await scanner.to_arrow()
    assert everything.schema.names == ["score", "id"]
    assert everything["id"].to_pylist() == list(range(60))


async def test_a_filter_loses_no_matching_row(session: Session) -> None:
    """The server may skip batches that cannot match; what matches always comes."""
    table = await session.create("filtered", SIMPLE)
    for first in range(0, 100, 10):
        await append(table, simple(first, 10))
    scanner = await table.new_scan().filter(fluss.col("id") >= 70).create_record_batch_log_scanner()
    scanner.subscribe(0, BEGINNING)
    ids: set[int] = set()
    while not ids >= set(range(70, 100)):
        ids |= set((await scanner.poll_arrow(1000))["id"].to_pylist())


async def test_a_tailing_scanner_sees_rows_as_they_come(session: Session) -> None:
    """A reader that waits at the end gets every row once, in order, while a writer writes."""
    table = await session.create("tailed", SIMPLE)
    scanner = await table.new_scan().create_log_scanner()
    scanner.subscribe(0, BEGINNING)
    writer = table.new_append().create_writer()
    seen: list[int] = []
    for number in range(50):
        handle = writer.append({"id": number, "name": None, "score": None})
        await handle.wait()
        seen += [record.row["id"] for record in await poll_records(scanner, 1)]
    assert seen == list(range(50))


async def test_reading_while_writing(session: Session) -> None:
    """Several writers and readers at once: each reader sees each writer's rows in order, none lost, none twice."""
    table = await session.create("busy", SIMPLE)
    per_writer, writers = 2000, 3

    async def write(number: int) -> None:
        async with await Session.open(session.bootstrap, session.database, writer__batch_timeout_ms="1") as other:
            writer = (await other.table("busy")).new_append().create_writer()
            for row in range(per_writer):
                writer.append([row, f"writer {number}", None])
                if row % 200 == 0:
                    await writer.flush()
            await writer.flush()

    async def read() -> list[tuple[str, int]]:
        found = await records(table, per_writer * writers)
        assert [record.offset for record in found] == list(range(per_writer * writers))
        return [(record.row["name"], record.row["id"]) for record in found]

    first, second, *_ = await asyncio.gather(read(), read(), *(write(number) for number in range(writers)))
    assert first == second
    for number in range(writers):
        assert [row for name, row in first if name == f"writer {number}"] == list(range(per_writer))


async def test_order_is_kept_with_five_batches_in_flight(session: Session) -> None:
    """200,000 rows in hundreds of batches that race for the socket come back in order, none twice."""
    small = {"writer__batch_size": "65536", "writer__dynamic_batch_size_min": "65536", "writer__batch_timeout_ms": "1"}
    async with await Session.open(session.bootstrap, session.database, **small) as quick:
        table = await quick.create("race", pa.schema([("id", pa.int64())]), properties=UNCOMPRESSED)
        writer = table.new_append().create_writer()
        for first in range(0, 200_000, 1000):
            writer.write_arrow_batch(pa.record_batch({"id": pa.array(range(first, first + 1000), pa.int64())}))
        await writer.flush()
        read = await scan(table)
    assert read["id"].equals(pa.chunked_array([pa.array(range(200_000), pa.int64())]))


UNCOMPRESSED = {"table.log.arrow.compression.type": "NONE"}


async def test_small_fetches_get_through_large_batches(session: Session) -> None:
    """A reader with tiny limits still gets on, batch by batch."""
    table = await session.create("large", SIMPLE, properties=UNCOMPRESSED)
    await append(table, *(simple(first, 20_000) for first in range(0, 100_000, 20_000)))
    limits = {"scanner__log__fetch__max_bytes": "1", "scanner__log__fetch__max_bytes_for_bucket": "1"}
    async with await Session.open(session.bootstrap, session.database, **limits) as small:
        read = await scan(await small.table("large"))
    assert read["id"].to_pylist() == list(range(100_000))


async def test_polling_by_batch_tells_the_offsets(session: Session) -> None:
    """A batch knows its bucket, its first and its last offset."""
    table = await session.create("batched", SIMPLE)
    for first in (0, 10, 20):
        await append(table, simple(first, 10))
    scanner = await table.new_scan().create_record_batch_log_scanner()
    scanner.subscribe(0, 5)
    found = []
    while not found or found[-1].last_offset < 29:
        found += await scanner.poll_record_batch(1000)
    assert [row for batch in found for row in batch.batch["id"].to_pylist()] == list(range(5, 30))
    assert [batch.last_offset for batch in found] == [9, 19, 29]
    assert {batch.bucket.bucket_id for batch in found} == {0}


async def test_an_unsubscribed_bucket_stays_silent(session: Session) -> None:
    """After unsubscribing only the other buckets are read."""
    table = await session.create("two", SIMPLE, bucket_count=2, bucket_keys=["id"])
    await append(table, simple(0, 50))
    scanner = await table.new_scan().create_log_scanner()
    scanner.subscribe_buckets({0: BEGINNING, 1: BEGINNING})
    await poll_records(scanner, 50)
    scanner.unsubscribe(0)
    await append(table, simple(50, 50))
    ends = await session.admin.list_offsets(session.path("two"), [0, 1], LATEST)
    only = len((await scan(table, [1])).to_pylist())
    assert only == ends[1]
    before = await records(table, ends[1], [1])
    fresh = sum(record.row["id"] >= 50 for record in before)
    found = await poll_records(scanner, fresh)
    assert all(record.row["id"] >= 50 for record in found)
    assert len(found) == fresh


async def test_an_offset_outside_the_log_is_an_error(session: Session) -> None:
    """Reading from behind the end fails at once; it does not wait for the log to grow there."""
    table = await session.create("short", SIMPLE)
    await append(table, simple(0, 5))
    scanner = await table.new_scan().create_log_scanner()
    scanner.subscribe(0, 1000)
    code = 0
    while not code:
        code = await error_code(scanner.poll(1000))
    assert code == fluss.ErrorCode.CLIENT_ERROR


@pytest.mark.parametrize("log_format", ["indexed", "compacted"])
async def test_row_formats_are_known_to_the_catalog(session: Session, log_format: str) -> None:
    """A table may keep its log as rows; the official client can make one, though it cannot write to it."""
    try:
        described = fluss.TableDescriptor(fluss.Schema(SIMPLE), bucket_count=1, log_format=log_format)
    except fluss.FlussError:
        pytest.skip("this client does not know the format")
    await session.admin.create_table(session.path("rows"), described)
    properties = (await session.admin.get_table_info(session.path("rows"))).get_properties()
    assert properties["table.log.format"].lower() == log_format


async def test_pandas_goes_in_and_out(session: Session) -> None:
    """Data frames are written and read."""
    table = await session.create("frames", SIMPLE)
    frame = simple(0, 20).to_pandas()
    writer = table.new_append().create_writer()
    writer.write_pandas(frame)
    await writer.flush()
    scanner = await table.new_scan().create_record_batch_log_scanner()
    scanner.subscribe(0, BEGINNING)
    assert (await scanner.to_pandas()).equals(frame)
