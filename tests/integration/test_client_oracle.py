"""Our client and the official one read each other's rows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import fluss
import pyarrow as pa
import pytest
from client_rows import fresh, numbered

import lakeward
from lakeward.errors import ErrorCode

pytestmark = pytest.mark.oracle
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


@pytest.fixture
async def ours(server: Any) -> AsyncIterator[lakeward.AsyncConnection]:
    """Our connection."""
    async with await lakeward.aconnect(server.bootstrap) as made:
        await made.create_database("client_oracle", exist_ok=True)
        yield made


@pytest.fixture
async def theirs(server: Any) -> AsyncIterator[fluss.FlussConnection]:
    """The official connection."""
    made = await fluss.FlussConnection.create(fluss.Config({"bootstrap.servers": server.bootstrap}))
    yield made
    await made.close()


@pytest.mark.parametrize("codec", ["NONE", "LZ4_FRAME", "ZSTD"])
async def test_the_official_client_reads_what_we_write(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection, codec: str
) -> None:
    """Batches of every codec, elided null masks and all."""
    name = fresh("ours")
    table = await ours.create_table(
        f"client_oracle.{name}", SCHEMA, properties={"table.log.arrow.compression.type": codec}
    )
    await table.append(numbered(0, 1000))
    await table.append([{"id": None, "name": None}])
    official = await theirs.get_table(fluss.TablePath("client_oracle", name))
    scanner = await official.new_scan().create_record_batch_log_scanner()
    scanner.subscribe(0, fluss.EARLIEST_OFFSET)
    found = await scanner.to_arrow()
    assert found.column("id").to_pylist() == [*range(1000), None]
    assert found.column("name").to_pylist()[-2:] == ["row 999", None]


async def test_we_read_what_the_official_client_writes(
    ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection
) -> None:
    """Rows and Arrow batches of pyfluss, all columns and some."""
    name = fresh("theirs")
    table = await ours.create_table(f"client_oracle.{name}", SCHEMA, buckets=2)
    await table.offsets()
    official = await theirs.get_table(fluss.TablePath("client_oracle", name))
    writer = official.new_append().create_writer()
    writer.append({"id": 1000, "name": "a row"})
    for start in range(0, 1000, 100):
        writer.write_arrow_batch(numbered(start, 100))
    await writer.flush()
    found = (await table.scan().to_arrow()).to_pylist()
    assert sorted(r["id"] for r in found) == list(range(1001))
    assert {r["name"] for r in found if r["id"] in {7, 1000}} == {"row 7", "a row"}
    assert (await table.scan(["name"]).to_arrow()).num_rows == 1001


async def test_changes_of_a_primary_key_table(ours: lakeward.AsyncConnection, theirs: fluss.FlussConnection) -> None:
    """A changelog is a scan whose rows say what they are: inserted, before, after, deleted."""
    name = fresh("keyed")
    table = await ours.create_table(f"client_oracle.{name}", SCHEMA, primary_key=["id"], buckets=1)
    await table.offsets()
    official = await theirs.get_table(fluss.TablePath("client_oracle", name))
    writer = official.new_upsert().create_writer()
    try:
        for change in ("x", "y"):
            await writer.upsert({"id": 1, "name": change}).wait()
    except fluss.FlussError as refused:
        if refused.error_code == ErrorCode.UNSUPPORTED_VERSION.value:
            pytest.skip("this server has no primary key tables yet")
        raise
    writer.upsert({"id": 2, "name": "stays"})
    await writer.flush()
    writer.delete({"id": 1})
    await writer.flush()
    rows = (await table.scan(metadata_columns=True).to_arrow()).to_pylist()
    changes = [("+I", "x"), ("-U", "x"), ("+U", "y"), ("+I", "stays"), ("-D", "y")]
    assert [(r["_change_type"], r["name"]) for r in rows] == changes
    assert (await table.head()).to_pylist() == [{"id": 2, "name": "stays"}]
    with pytest.raises(lakeward.UnsupportedError, match="primary key"):
        await table.append(numbered(0, 1))
