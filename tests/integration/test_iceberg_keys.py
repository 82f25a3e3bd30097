"""Keys of several columns where the cluster's lake is Iceberg, whose own keys are one column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import fluss
import pyarrow as pa
import pytest
from lake_tables import read_by_pyiceberg
from pyfluss_session import Session
from server_process import ServerProcess
from tiering_runs import Warehouse

COLUMNS = pa.schema([pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.string(), nullable=False)])


@pytest.mark.oracle
async def test_the_official_client_and_ours_share_such_a_table(
    new_server: Callable[..., ServerProcess], tmp_path: Path
) -> None:
    """Each finds what the other wrote, and the rows are in the lake, where every reader finds them."""
    server = new_server(datalake__format="iceberg")
    lake = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
    schema = COLUMNS.append(pa.field("n", pa.int32()))
    described = fluss.TableDescriptor(
        fluss.Schema(schema, primary_keys=["a", "b"]),
        bucket_count=3,
        properties={"table.datalake.enabled": "true"},
    )
    async with await Session.open(server.bootstrap, "fluss") as session:
        await session.admin.create_table(session.path("pairs"), described)
        await session.ready("pairs", 3)
        theirs = await session.table("pairs")
        writer = theirs.new_upsert().create_writer()
        for a in range(20):
            writer.upsert({"a": a, "b": "x", "n": a})
        await writer.flush()
        ours = lake.conn.table("fluss.pairs")
        assert ours.lookup({"a": 7, "b": "x"}).to_pylist() == [{"a": 7, "b": "x", "n": 7}]
        ours.upsert({"a": [7], "b": ["y"], "n": [70]})
        lookuper = theirs.new_lookup().create_lookuper()
        assert await lookuper.lookup({"a": 7, "b": "y"}) == {"a": 7, "b": "y", "n": 70}
    assert lake.round(ours).rows == 21
    found = read_by_pyiceberg(lake.directory, str(ours.path))
    assert sorted((row["a"], row["b"], row["n"]) for row in found) == sorted(
        [*((a, "x", a) for a in range(20)), (7, "y", 70)]
    )
    lake.close()
