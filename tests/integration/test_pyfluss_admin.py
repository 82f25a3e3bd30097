"""Databases, tables and the cluster through the official client."""

from __future__ import annotations

import os

import fluss
import pyarrow as pa
import pytest
from pyfluss_session import Session, append, error_code, scan
from server_process import ServerProcess

pytestmark = pytest.mark.oracle

ID = pa.schema([("id", pa.int64())])
Code = fluss.ErrorCode


def descriptor(schema: pa.Schema = ID, **parts: object) -> fluss.TableDescriptor:
    """A table descriptor."""
    return fluss.TableDescriptor(fluss.Schema(schema), **parts)


async def test_the_cluster_has_a_coordinator_and_a_tablet_server(session: Session) -> None:
    """Clients find both roles, each with an address."""
    nodes = await session.admin.get_server_nodes()
    assert {node.server_type for node in nodes} == {"CoordinatorServer", "TabletServer"}
    assert all(node.host and node.port > 0 and node.uid for node in nodes)


async def test_a_database_lives_and_dies(session: Session) -> None:
    """Created, listed, described, and gone after the drop."""
    name = f"{session.database}_second"
    described = fluss.DatabaseDescriptor(comment="a second one", custom_properties={"owner": "tests", "x.y": "z"})
    await session.admin.create_database(name, described)
    assert await session.admin.database_exists(name)
    assert {name, "fluss", session.database} <= set(await session.admin.list_databases())
    info = await session.admin.get_database_info(name)
    assert info.database_name == name
    assert info.get_database_descriptor().comment == "a second one"
    assert info.get_database_descriptor().get_custom_properties() == {"owner": "tests", "x.y": "z"}
    assert 0 < info.created_time <= info.modified_time
    await session.admin.drop_database(name)
    assert not await session.admin.database_exists(name)


async def test_databases_are_refused_by_code(session: Session) -> None:
    """Each refusal has the code that programs branch on."""
    admin, name = session.admin, session.database
    assert await error_code(admin.create_database(name)) == Code.DATABASE_ALREADY_EXIST
    assert await error_code(admin.create_database(name, ignore_if_exists=True)) == 0
    assert await error_code(admin.drop_database("not_there")) == Code.DATABASE_NOT_EXIST
    assert await error_code(admin.drop_database("not_there", ignore_if_not_exists=True)) == 0
    assert await error_code(admin.get_database_info("not_there")) == Code.DATABASE_NOT_EXIST
    assert await error_code(admin.list_tables("not_there")) == Code.DATABASE_NOT_EXIST
    await session.create("t", ID)
    assert await error_code(admin.drop_database(name, cascade=False)) == Code.DATABASE_NOT_EMPTY


@pytest.mark.parametrize("name", ["../../etc", "a/b", "a b", "..", ".", "", "__system", "x" * 201, "tab\tle", "ü"])
async def test_illegal_names_are_refused(session: Session, name: str) -> None:
    """No name leads out of the data directory, for databases as for tables."""
    assert await error_code(session.admin.create_database(name)) == Code.INVALID_DATABASE_EXCEPTION
    refused = session.admin.create_table(fluss.TablePath(session.database, name), descriptor())
    assert await error_code(refused) == Code.INVALID_TABLE_EXCEPTION


async def test_the_longest_legal_name_is_accepted(session: Session) -> None:
    """Two hundred characters, letters, digits, underscore and minus."""
    name = "Aa0_-" * 40
    await session.create(name, ID)
    assert await session.admin.list_tables(session.database) == [name]


async def test_a_table_is_described_as_it_was_created(session: Session) -> None:
    """Columns, keys, buckets, comment and properties come back."""
    schema = pa.schema([("region", pa.string()), ("id", pa.int64()), ("amount", pa.decimal128(10, 2))])
    await session.admin.create_table(
        session.path("orders"),
        descriptor(
            schema,
            bucket_count=3,
            bucket_keys=["id"],
            partition_keys=["region"],
            comment="all orders",
            properties={"table.log.ttl": "2 d", "table.log.arrow.compression.type": "LZ4_FRAME"},
            custom_properties={"team": "sales"},
        ),
    )
    info = await session.admin.get_table_info(session.path("orders"))
    assert info.get_column_names() == ["region", "id", "amount"]
    assert (info.num_buckets, info.schema_id, info.comment) == (3, 1, "all orders")
    assert (info.get_bucket_keys(), info.get_partition_keys()) == (["id"], ["region"])
    assert (info.has_primary_key(), info.is_partitioned()) == (False, True)
    assert info.get_custom_properties() == {"team": "sales"}
    properties = info.get_properties()
    assert properties["table.log.ttl"] == "2 d"
    assert properties["table.log.arrow.compression.type"] == "LZ4_FRAME"
    assert properties["table.replication.factor"] == os.environ.get("LAKEWARD_TEST_REPLICAS", "1")
    assert 0 < info.created_time <= info.modified_time


async def test_a_table_without_buckets_gets_the_default(session: Session) -> None:
    """Who says nothing about buckets gets one."""
    await session.admin.create_table(session.path("plain"), descriptor())
    info = await session.admin.get_table_info(session.path("plain"))
    assert (info.num_buckets, info.get_bucket_keys()) == (1, [])


async def test_tables_are_refused_by_code(session: Session) -> None:
    """Missing, existing and invalid tables have codes of their own."""
    admin = session.admin
    await session.create("t", ID)
    missing = session.path("not_there")
    assert await error_code(admin.get_table_info(missing)) == Code.TABLE_NOT_EXIST
    assert await error_code(admin.drop_table(missing)) == Code.TABLE_NOT_EXIST
    assert await error_code(admin.drop_table(missing, ignore_if_not_exists=True)) == 0
    assert not await admin.table_exists(missing)
    assert not await admin.table_exists(fluss.TablePath("no_database", "t"))
    assert await error_code(admin.create_table(session.path("t"), descriptor())) == Code.TABLE_ALREADY_EXIST
    assert await error_code(admin.create_table(session.path("t"), descriptor(), ignore_if_exists=True)) == 0
    nowhere = fluss.TablePath("no_database", "t")
    assert await error_code(admin.create_table(nowhere, descriptor())) == Code.DATABASE_NOT_EXIST
    assert await error_code(admin.list_partition_infos(session.path("t"))) == Code.TABLE_NOT_PARTITIONED_EXCEPTION


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ({"properties": {"table.no-such": "1"}}, Code.INVALID_CONFIG_EXCEPTION),
        ({"properties": {"table.log.ttl": "soon"}}, Code.INVALID_CONFIG_EXCEPTION),
        ({"properties": {"table.replication.factor": "9"}}, Code.INVALID_REPLICATION_FACTOR),
        ({"properties": {"table.log.arrow.compression.zstd.level": "99"}}, Code.INVALID_CONFIG_EXCEPTION),
        ({"bucket_count": 200_000}, Code.BUCKET_MAX_NUM_EXCEPTION),
        ({"bucket_keys": ["nope"], "bucket_count": 2}, Code.INVALID_TABLE_EXCEPTION),
        ({"partition_keys": ["nope"]}, Code.INVALID_TABLE_EXCEPTION),
    ],
    ids=str,
)
async def test_impossible_tables_are_refused(session: Session, parts: dict, code: int) -> None:
    """Properties, buckets and keys are checked before anything is created."""
    try:
        refused = await error_code(session.admin.create_table(session.path("bad"), descriptor(**parts)))
    except fluss.FlussError as wrong:  # some mistakes the client itself notices
        refused = wrong.error_code
    assert refused in {code, Code.CLIENT_ERROR}
    assert not await session.admin.table_exists(session.path("bad"))


async def test_an_unknown_property_is_answered_with_the_nearest_name(lakeward: ServerProcess, session: Session) -> None:
    """A misspelt property is refused, and the message says what was probably meant."""
    with pytest.raises(fluss.FlussError, match=r"table\.log\.ttl"):
        await session.admin.create_table(session.path("bad"), descriptor(properties={"table.log.tll": "1 d"}))


@pytest.mark.parametrize(
    ("alias", "value", "canonical", "shown"),
    [
        ("log.retention.hours", "48", "table.log.ttl", ("2 d", "48 h", "48h", "172800000 ms")),
        ("table.replication-factor", "1", "table.replication.factor", ("1",)),
    ],
)
async def test_names_of_older_guides_are_understood(
    lakeward: ServerProcess, session: Session, alias: str, value: str, canonical: str, shown: tuple[str, ...]
) -> None:
    """An alias is accepted and shown under its canonical name."""
    await session.admin.create_table(session.path("aliased"), descriptor(properties={alias: value}))
    properties = (await session.admin.get_table_info(session.path("aliased"))).get_properties()
    assert properties[canonical] in shown
    assert alias not in properties


async def test_a_dropped_table_is_empty_when_it_comes_back(session: Session) -> None:
    """The same name is a new table: another id, no rows, no old properties."""
    first = await session.create("again", ID, comment="first")
    await append(first, pa.record_batch({"id": pa.array([1, 2, 3], pa.int64())}))
    await session.admin.drop_table(session.path("again"))
    assert not await session.admin.table_exists(session.path("again"))
    await session.create("again", ID)
    async with await Session.open(session.bootstrap, session.database) as other:
        second = await other.table("again")
        assert second.get_table_info().table_id != first.get_table_info().table_id
        assert second.get_table_info().comment is None
        assert (await scan(second)).num_rows == 0
