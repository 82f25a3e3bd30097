"""Our client and the official one on the same primary key table, and what happens where they disagree on buckets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import fluss
import pytest
from client_rows import EVERY_VALUE
from keyed_tables import by_id, keyed_table, rows

import lakeward
from lakeward.client.lookup import bucket_evidence
from lakeward.model.data_types import BIGINT, DECIMAL
from lakeward.model.schema import Aggregate, Column

pytestmark = pytest.mark.oracle
#: Everything pyfluss can be given as a dict: it takes no CHAR padding and no seconds-only times into account.
_TYPES = {
    "i32": "INT",
    "i64": "BIGINT",
    "f64": "DOUBLE",
    "s": "STRING",
    "byt": "BYTES",
    "d9": "DECIMAL(9, 2)",
    "d30": "DECIMAL(30, 5)",
    "day": "DATE",
    "ts6": "TIMESTAMP(6)",
    "b": "BOOLEAN",
    "arr": "ARRAY<INT>",
}
_VALUES = {name: EVERY_VALUE[name] for name in _TYPES}


@pytest.fixture
async def ours(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """Our connection."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        yield made


@pytest.fixture
async def theirs(server: Any) -> AsyncIterator[fluss.FlussConnection]:
    """The official connection."""
    made = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": server.bootstrap}))
    yield made
    await made.close()


async def official(theirs: fluss.FlussConnection, table: lakeward.AsyncTable) -> fluss.FlussTable:
    """The same table, held by the official client."""
    return await theirs.get_table(fluss.TablePath(table.path.database, table.path.table))


async def official_upsert(table: fluss.FlussTable, *rows: dict[str, Any]) -> None:
    """Rows through the official row API."""
    writer = table.new_upsert().create_writer()
    for row in rows:
        writer.upsert(row)
    await writer.flush()


async def test_each_finds_what_the_other_wrote(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """On one bucket there is nothing to disagree on: rows, keys and updates are the same bytes."""
    table = await keyed_table(ours, database, buckets=1)
    other = await official(theirs, table)
    await table.upsert(rows(*range(0, 1000, 2)))
    await official_upsert(other, *rows(*range(1, 1000, 2), name="official"))
    await official_upsert(other, *rows(0, name="updated"))
    await table.upsert(rows(1, name="updated"))
    found = by_id(await table.lookup(list(range(1000))))
    assert [found[i] for i in range(4)] == ["updated 0", "updated 1", "row 2", "official 3"]
    lookuper = other.new_lookup().create_lookuper()
    for i in (0, 1, 2, 3, 300):
        assert (await lookuper.lookup({"id": i}))["name"] == found[i]
    assert await lookuper.lookup({"id": 5000}) is None
    writer = other.new_upsert().create_writer()
    writer.delete({"id": 2})
    await writer.flush()
    assert (await table.lookup([2], missing="drop")).num_rows == 0
    await table.delete([3])
    assert await lookuper.lookup({"id": 3}) is None


async def test_every_type_in_both_directions(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """Values of each type, ours read by the official client and its read by ours."""
    columns = "id BIGINT, " + ", ".join(f"{name} {type_}" for name, type_ in _TYPES.items())
    table = await keyed_table(ours, database, columns, buckets=1)
    other = await official(theirs, table)
    await table.upsert([{"id": 1, **_VALUES}])
    await official_upsert(other, {"id": 2, **_VALUES})
    lookuper = other.new_lookup().create_lookuper()
    first, second = [await lookuper.lookup({"id": i}) for i in (1, 2)]
    assert {**first, "id": 2} == second
    assert (await table.lookup([1, 2])).to_pylist() == [{"id": i, **_VALUES} for i in (1, 2)]


@pytest.mark.usefixtures("lakeward")  # Apache Fluss 0.9.1 refuses such a sum, by the writer of its changelog
async def test_sums_may_go_beyond_the_digits_of_a_decimal(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """99.99 + 0.01 in a DECIMAL(4, 2) is 100.00, as at Apache Fluss 1.0: in the state and in the changelog.

    The official client writes the parts; it refuses to read such a sum.
    """
    total = Column("total", DECIMAL(4, 2), aggregate=Aggregate("sum"))
    table = await keyed_table(
        ours,
        database,
        [Column("id", BIGINT()), total],
        buckets=1,
        properties={"table.merge-engine": "aggregation"},
    )
    other = await official(theirs, table)
    for part in ("99.99", "0.01", "50"):
        await official_upsert(other, {"id": 1, "total": Decimal(part)})
    sums = [Decimal("99.99"), Decimal("99.99"), Decimal("100.00"), Decimal("100.00"), Decimal("150.00")]
    assert (await table.lookup([1]))["total"].to_pylist() == sums[-1:]
    assert (await table.snapshot())["total"].to_pylist() == sums[-1:]
    assert (await table.changelog().to_arrow())["total"].to_pylist() == sums
    assert (await table.lookup([1, 2]))["total"].to_pylist() == [sums[-1], None]


async def test_changelogs_are_the_same_to_both(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """What the official client reads row by row, ours reads as Arrow."""
    table = await keyed_table(ours, database, buckets=1)
    other = await official(theirs, table)
    await table.upsert(rows(1, 2))
    await table.upsert(rows(1, name="new"))
    await official_upsert(other, *rows(2, name="official"))
    await table.delete([1])
    scanner = await other.new_scan().create_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    told: list[tuple[str, str]] = []
    while len(told) < 7:
        told += [(str(r.change_type), r.row["name"]) for r in await scanner.poll(1000)]
    changes = (await table.changelog().to_arrow()).to_pylist()
    assert [c["name"] for c in changes] == [name for _, name in told]
    assert [c["_change_type"] for c in changes] == ["+I", "+I", "-U", "+U", "-U", "+U", "-D"]


async def test_a_table_can_be_declared_to_follow_pyfluss(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """Then both find every key of the other, whatever its bytes, and nothing is stored twice."""
    table = await keyed_table(ours, database, buckets=4, bucketing="pyfluss")
    assert table.info.descriptor.custom_properties["lakeward.bucketing"] == "pyfluss"
    other = await official(theirs, table)
    keys = [1, 127, 128, 300, 16_383, 16_384, 2**40, -1, -300]
    await official_upsert(other, *rows(*keys))
    await table.upsert(rows(*keys, name="ours"))
    assert await table.count() == len(keys)
    assert (await table.lookup(keys))["name"].to_pylist() == [f"ours {k}" for k in keys]
    lookuper = other.new_lookup().create_lookuper()
    for key in keys:
        assert (await lookuper.lookup({"id": key}))["name"] == f"ours {key}"


async def test_a_lookup_that_misses_because_of_the_bucket_says_so(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """The row that pyfluss put elsewhere is not reported as missing: the error says where it is and what to do."""
    table = await keyed_table(ours, database, buckets=16)
    await official_upsert(await official(theirs, table), *rows(300, 5))
    assert (await table.lookup(5)).to_pylist() == rows(5), "no disagreement about this one"
    with pytest.raises(
        lakeward.InvalidError, match=r"id=300 lies in bucket 11, where pyfluss .* in bucket 5.*alter_table"
    ):
        await table.lookup([5, 300])
    assert (await (await ours.table(str(table.path), bucketing="java")).lookup(300))["id"].to_pylist() == [None]
    assert (await (await ours.table(str(table.path), bucketing="pyfluss")).lookup(300)).to_pylist() == rows(300)
    await ours.alter_table(str(table.path), set={"lakeward.bucketing": "pyfluss"})
    await table.refresh()
    assert (await table.lookup([300, 5])).to_pylist() == rows(300, 5)


async def test_rows_of_pyfluss_are_noticed_before_the_first_write(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, database: str
) -> None:
    """An upsert would store keys a second time, in Java's bucket; it is refused, and nothing is sent."""
    table = await keyed_table(ours, database, buckets=4)
    await official_upsert(await official(theirs, table), *rows(*range(1000)))
    for attempt in (table.upsert(rows(300)), table.delete([300])):
        with pytest.raises(lakeward.InvalidError, match="where pyfluss puts it"):
            await attempt
    assert await table.count() == 1000


async def test_seeking_in_vain_ends(
    ours: lakeward.AsyncConnection, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys that are simply not there are sought elsewhere only so often."""
    table = await keyed_table(ours, database, buckets=4)
    await table.upsert(rows(1))
    monkeypatch.setattr(bucket_evidence, "_SOUGHT_AT_ONCE", 10)
    evidence = table._keyed_rows._evidence
    evidence._sought_left = 25
    for left in (15, 5, 0, 0):
        assert (await table.lookup(range(1000, 1100), missing="drop")).num_rows == 0
        assert evidence._sought_left == left


async def test_rows_that_java_would_put_there_are_no_evidence(ours: lakeward.AsyncConnection, database: str) -> None:
    """A table that we wrote alone is never suspected."""
    table = await keyed_table(ours, database, buckets=4)
    await table.upsert(rows(*range(1000)))
    again = await ours.table(str(table.path))
    await again.upsert(rows(*range(1000), name="again"))
    assert await again.count() == 1000
