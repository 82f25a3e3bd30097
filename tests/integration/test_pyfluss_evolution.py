"""Tables that grow: what was written before a column came, read after it."""

from __future__ import annotations

import json

import fluss
import pyarrow as pa
import pytest
from pyfluss_session import BEGINNING, Session, append, poll_records, scan
from server_process import ServerProcess
from wire_client import WireCluster

from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.protocol.messages.table import AlterTableRequest, GetTableSchemaRequest, PbAddColumn

pytestmark = pytest.mark.oracle

FIRST = pa.schema([("id", pa.int64()), ("name", pa.string())])
SECOND = pa.schema([*FIRST, ("score", pa.float64()), ("tags", pa.list_(pa.string()))])
OLD = pa.record_batch([pa.array([1, 2], pa.int64()), ["one", None]], schema=FIRST)
NEW = pa.record_batch([pa.array([3, 4], pa.int64()), ["three", None], [1.5, None], [["x", None], None]], schema=SECOND)
OLD_ROWS = [{**row, "score": None, "tags": None} for row in OLD.to_pylist()]


def add_columns(cluster: WireCluster, session: Session, **columns: dict) -> None:
    """Add columns at the end, by their JSON types."""
    added = tuple(
        PbAddColumn(column_name=name, data_type_json=json.dumps(kind).encode(), column_position_type=0)
        for name, kind in columns.items()
    )
    path = PbTablePath(database_name=session.database, table_name="growing")
    cluster.coordinator.call(
        Api.ALTER_TABLE, AlterTableRequest(table_path=path, ignore_if_not_exists=False, add_columns=added)
    )


@pytest.fixture(params=["NONE", "ZSTD"])
async def grown(session: Session, cluster: WireCluster, request: pytest.FixtureRequest) -> fluss.FlussTable:
    """A table with rows from before and after two columns were added, opened by a client that knows only the result."""
    properties = {"table.log.arrow.compression.type": request.param}
    await append(await session.create("growing", FIRST, properties=properties), OLD)
    kinds = {"score": {"type": "DOUBLE"}, "tags": {"type": "ARRAY", "element_type": {"type": "STRING"}}}
    add_columns(cluster, session, **kinds)
    async with await Session.open(session.bootstrap, session.database) as other:
        await append(await other.table("growing"), NEW)
    fresh = await Session.open(session.bootstrap, session.database)
    return await fresh.table("growing")


async def test_the_schema_is_known_in_all_its_versions(grown: fluss.FlussTable, cluster: WireCluster) -> None:
    """The table shows the newest schema; the older one can still be asked for, with the same column ids."""
    info = grown.get_table_info()
    assert info.schema_id == 2
    assert info.get_column_names() == SECOND.names
    path = PbTablePath(database_name=info.table_path.database_name, table_name="growing")
    first = cluster.coordinator.call(Api.GET_TABLE_SCHEMA, GetTableSchemaRequest(table_path=path, schema_id=1))
    newest = cluster.coordinator.call(Api.GET_TABLE_SCHEMA, GetTableSchemaRequest(table_path=path))
    old, new = (json.loads(answer.schema_json)["columns"] for answer in (first, newest))
    assert (first.schema_id, newest.schema_id) == (1, 2)
    assert new[:2] == old
    assert [column["id"] for column in new] == [0, 1, 2, 3]


async def test_old_rows_have_nulls_in_new_columns(lakeward: ServerProcess, grown: fluss.FlussTable) -> None:
    """Batches of both schemas are read together, row by row."""
    scanner = await grown.new_scan().project(list(range(4))).create_log_scanner()
    scanner.subscribe(0, BEGINNING)
    found = await poll_records(scanner, 4)
    assert [record.row for record in found] == [*OLD_ROWS, *NEW.to_pylist()]
    assert [record.offset for record in found] == [0, 1, 2, 3]


async def test_old_batches_are_padded_for_arrow(grown: fluss.FlussTable) -> None:
    """As Arrow too, aligned to the newest schema."""
    assert (await scan(grown, fixed_schema=True)).to_pylist() == [*OLD_ROWS, *NEW.to_pylist()]


@pytest.mark.parametrize(
    "columns", [["id"], ["score", "id"], ["name", "tags"], ["id", "name", "score", "tags"]], ids=str
)
async def test_columns_of_both_ages_can_be_chosen(
    lakeward: ServerProcess, grown: fluss.FlussTable, columns: list[str]
) -> None:
    """A projection over old and new batches gives nulls where a column was not there yet."""
    wanted = [{name: row[name] for name in columns} for row in (*OLD_ROWS, *NEW.to_pylist())]
    assert (await scan(grown, columns=columns, fixed_schema=True)).to_pylist() == wanted
    scanner = await grown.new_scan().project_by_name(columns).create_log_scanner()
    scanner.subscribe(0, BEGINNING)
    assert [record.row for record in await poll_records(scanner, 4)] == wanted


async def test_writers_of_the_old_schema_go_on(session: Session, cluster: WireCluster) -> None:
    """A client that has not heard of the new column still writes, and what it writes is read."""
    table = await session.create("growing", FIRST)
    await append(table, OLD)
    add_columns(cluster, session, score={"type": "DOUBLE"})
    await append(table, OLD)
    async with await Session.open(session.bootstrap, session.database) as other:
        rows = (await scan(await other.table("growing"), fixed_schema=True)).to_pylist()
    assert rows == [{**row, "score": None} for row in OLD.to_pylist()] * 2
