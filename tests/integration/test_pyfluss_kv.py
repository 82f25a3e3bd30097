"""Primary key tables through the official client: state, changelog, and both of them after restarts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import fluss
import pyarrow as pa
import pytest
from pyfluss_session import Session, error_code, records
from server_process import ServerProcess

import lakeward

pytestmark = pytest.mark.oracle

NewServer = Callable[..., ServerProcess]
Row = dict[str, Any]
PEOPLE = pa.schema([("id", pa.int64()), ("name", pa.string()), ("age", pa.int32())])


async def create(session: Session, name: str, schema: pa.Schema = PEOPLE, **descriptor: Any) -> fluss.FlussTable:
    """A table whose key is its first column, unless told."""
    keys = descriptor.pop("primary_keys", [schema.names[0]])
    described = {"bucket_count": 1} | descriptor
    table = fluss.TableDescriptor(fluss.Schema(schema, primary_keys=keys), **described)
    await session.admin.create_table(session.path(name), table)
    if not described.get("partition_keys"):
        await session.ready(name, described["bucket_count"])
    return await session.table(name)


async def upsert(table: fluss.FlussTable, *rows: Row, columns: list[str] | None = None) -> None:
    """Write rows, or some of their columns, and wait until they are acknowledged."""
    builder = table.new_upsert()
    writer = (builder if columns is None else builder.partial_update_by_name(columns)).create_writer()
    for row in rows:
        writer.upsert(row)
    await writer.flush()


async def delete(table: fluss.FlussTable, *keys: Row) -> None:
    """Delete keys and wait until that is acknowledged."""
    writer = table.new_upsert().create_writer()
    for key in keys:
        writer.delete(key)
    await writer.flush()


async def look_up(table: fluss.FlussTable, *keys: Row) -> list[Row | None]:
    """The rows of keys; all at once, since the client waits a while for others before it sends one."""
    lookuper = table.new_lookup().create_lookuper()
    return list(await asyncio.gather(*(lookuper.lookup(key) for key in keys)))


async def changes(table: fluss.FlussTable, count: int) -> list[tuple[str, Row]]:
    """So many changes of the first bucket, from the beginning."""
    found = await records(table, count)
    assert [record.offset for record in found] == list(range(count))
    return [(record.change_type.short_string(), record.row) for record in found]


def person(number: int, name: str | None = "n", age: int | None = 1) -> Row:
    """A row of PEOPLE."""
    return {"id": number, "name": name, "age": age}


async def test_the_changelog_has_the_old_rows(session: Session) -> None:
    """Insert, update, delete, insert again: each change with the row as it was and as it is."""
    table = await create(session, "people")
    await upsert(table, person(1, "Ada"))
    await upsert(table, person(1, "Ada L.", 36))
    await delete(table, {"id": 1})
    await upsert(table, person(1, None, None))
    assert await changes(table, 5) == [
        ("+I", person(1, "Ada")),
        ("-U", person(1, "Ada")),
        ("+U", person(1, "Ada L.", 36)),
        ("-D", person(1, "Ada L.", 36)),
        ("+I", person(1, None, None)),
    ]
    assert await look_up(table, {"id": 1}, {"id": 2}) == [person(1, None, None), None]


async def test_some_columns_at_a_time(session: Session) -> None:
    """A partial update leaves the other columns; the changelog has whole rows."""
    table = await create(session, "people")
    await upsert(table, {"id": 1, "name": "Ada"}, columns=["id", "name"])
    await upsert(table, {"id": 1, "age": 36}, columns=["id", "age"])
    assert await look_up(table, {"id": 1}) == [person(1, "Ada", 36)]
    assert await changes(table, 3) == [
        ("+I", person(1, "Ada", None)),
        ("-U", person(1, "Ada", None)),
        ("+U", person(1, "Ada", 36)),
    ]


async def test_rows_by_the_beginning_of_their_key(session: Session) -> None:
    """A prefix lookup finds the rows of a bucket key, in key order, and no neighbour's."""
    schema = pa.schema([("shop", pa.string()), ("line", pa.int32()), ("item", pa.string())])
    table = await create(session, "lines", schema, primary_keys=["shop", "line"], bucket_keys=["shop"], bucket_count=3)
    rows = [{"shop": shop, "line": line, "item": f"{shop}{line}"} for shop in ("a", "ab", "b") for line in (1, 2, 3)]
    await upsert(table, *rows)
    await delete(table, {"shop": "a", "line": 2})
    prefix = table.new_lookup().lookup_by(["shop"]).create_lookuper()
    assert [row["line"] for row in await prefix.lookup({"shop": "a"})] == [1, 3]
    assert [row["item"] for row in await prefix.lookup({"shop": "ab"})] == ["ab1", "ab2", "ab3"]
    assert await prefix.lookup({"shop": "c"}) == []


async def test_partitions_have_their_own_rows(session: Session) -> None:
    """The same key in two partitions is two rows; a partition that goes takes its rows along."""
    schema = pa.schema([("day", pa.string()), ("id", pa.int64()), ("n", pa.int32())])
    table = await create(session, "days", schema, primary_keys=["day", "id"], partition_keys=["day"])
    for day in ("mon", "tue"):
        await session.admin.create_partition(session.path("days"), {"day": day})
        await session.partition_ready("days", day)
    await upsert(table, *[{"day": day, "id": 1, "n": n} for n, day in enumerate(("mon", "tue"))])
    keys = [{"day": day, "id": 1} for day in ("mon", "tue", "wed")]
    assert [row and row["n"] for row in await look_up(table, *keys)] == [0, 1, None]
    await session.admin.drop_partition(session.path("days"), {"day": "mon"})
    assert [row and row["n"] for row in await look_up(await session.table("days"), keys[1])] == [1]


async def test_a_new_column_is_null_in_old_rows(session: Session) -> None:
    """Lookups, changelog and scans of rows from before a column was added show it as null."""
    await upsert(await create(session, "people"), person(1), person(2))
    async with await lakeward.aconnect(session.bootstrap) as ours:
        await ours.alter_table(f"{session.database}.people", add_columns="city STRING")
        async with await Session.open(session.bootstrap, session.database, writer__batch_timeout_ms="0") as fresh:
            table = await fresh.table("people")
            await upsert(table, person(2, "two") | {"city": "Rome"}, person(3) | {"city": "Oslo"})
            found = await look_up(table, *({"id": i} for i in (1, 2, 3)))
            assert [row and row["city"] for row in found] == [None, "Rome", "Oslo"]
            log = [(r.change_type.short_string(), r.row) for r in await records(table, 3, start=2)]
            assert log[:2] == [("-U", person(2) | {"city": None}), ("+U", person(2, "two") | {"city": "Rome"})]
        table = await ours.table(f"{session.database}.people")
        assert await table.count() == 3
        cities = (await table.snapshot()).sort_by("id")["city"].to_pylist()
        assert cities == [None, "Rome", "Oslo"]


async def test_a_few_rows(session: Session) -> None:
    """A limited scan gives rows of the state, not of the changelog."""
    table = await create(session, "people")
    await upsert(table, *[person(i) for i in range(50)])
    await upsert(table, *[person(i, "again") for i in range(50)])
    bucket = fluss.TableBucket(table.get_table_info().table_id, 0)
    few = await table.new_scan().limit(7).create_bucket_batch_scanner(bucket).to_arrow()
    assert few.num_rows == 7
    assert set(few["name"].to_pylist()) == {"again"}
    every = await table.new_scan().limit(500).create_bucket_batch_scanner(bucket).to_arrow()
    assert sorted(every["id"].to_pylist()) == list(range(50))


@pytest.mark.parametrize("kv_format", ["COMPACTED", "INDEXED"])
@pytest.mark.parametrize("log_format", ["ARROW", "COMPACTED"])
async def test_every_format_tells_the_same(session: Session, kv_format: str, log_format: str) -> None:
    """Formats are how rows are laid out, not what they say."""
    if (log_format, kv_format) == ("COMPACTED", "INDEXED"):
        pytest.skip("a COMPACTED log goes with a COMPACTED state")
    properties = {"table.kv.format": kv_format, "table.log.format": log_format}
    table = await create(session, "people", properties=properties)
    if kv_format == "COMPACTED":
        await upsert(table, person(1, "ü" * 300), person(2, None, None))
        assert await look_up(table, {"id": 1}, {"id": 2}) == [person(1, "ü" * 300), person(2, None, None)]
    async with await lakeward.aconnect(session.bootstrap) as ours:
        mine = await ours.table(f"{session.database}.people")
        await mine.upsert([person(3, "three", 3)])
        assert person(3, "three", 3) in (await mine.snapshot()).to_pylist()


async def test_a_row_without_its_key_is_refused(session: Session) -> None:
    """A null key comes back as an error and leaves no row."""
    table = await create(session, "people")
    writer = table.new_upsert().create_writer()
    with pytest.raises(fluss.FlussError):
        await writer.upsert({"id": None, "name": "x", "age": 1}).wait()
    await upsert(table, person(1))
    assert await look_up(table, {"id": 1}) == [person(1)]


async def test_deletes_are_refused_where_disabled(session: Session) -> None:
    """The client hears of it, and the row stays."""
    table = await create(session, "people", properties={"table.delete.behavior": "disable"})
    await upsert(table, person(1))
    writer = table.new_upsert().create_writer()
    handle = writer.delete({"id": 1})
    assert await error_code(handle.wait()) == 57
    assert await look_up(table, {"id": 1}) == [person(1)]


@pytest.mark.covering("hash")
@pytest.mark.parametrize("engine", ["hash", "rocksdb"])
async def test_state_and_changelog_survive(new_server: NewServer, engine: str) -> None:
    """Killed and then stopped, with snapshots taken meanwhile: each time everything acknowledged is there."""
    server = new_server(kv__engine=engine, kv__snapshot__interval="100ms")
    wanted: dict[int, Row] = {}
    async with await Session.open(server.bootstrap, "kept", writer__batch_timeout_ms="0") as session:
        await session.admin.create_database("kept")
        table = await create(session, "people")
        offset = 0
        for number, kill in enumerate([True, False]):
            rows = {i: person(i, f"round {number}", number) for i in range(number * 50, number * 50 + 100)}
            await upsert(table, *rows.values())
            offset += sum(2 if i in wanted else 1 for i in rows)
            wanted |= rows
            await delete(table, {"id": number * 50})
            offset += 1
            del wanted[number * 50]
            server.restart(kill=kill)
            found = await look_up(table, *({"id": i} for i in range(0, 200, 10)))
            assert found == [wanted.get(i) for i in range(0, 200, 10)]
            log = await changes(table, offset)
            state: dict[int, Row] = {}
            for kind, row in log:
                if kind in {"-U", "-D"}:
                    assert state.pop(row["id"]) == row
                else:
                    state[row["id"]] = row
            assert state == wanted
    assert server.stop() == 0
