"""The catalog: what exists, in memory and in the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from coordinator_world import World, alter_request, partition_request, path

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages import database as database_messages
from lakeward.protocol.messages import table as table_messages
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.metadata_store.memory_store import MemoryMetadataStore
from lakeward.server.metadata_store.sqlite_store import FILE_NAME, SqliteMetadataStore


def state(catalog: Catalog) -> list[object]:
    """Everything a catalog knows."""
    tables = list(catalog.tables())
    return [
        catalog.databases(),
        tables,
        [[catalog.schema(t.table_id, i) for i in range(1, t.schema_id + 1)] for t in tables],
        [catalog.partitions_of(t.table_id) for t in tables],
        sorted(catalog.all_buckets(), key=str),
    ]


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[World]:
    """A coordinator on a SQLite file."""
    store = SqliteMetadataStore(LocalFiles(), SystemEntropy(), tmp_path / FILE_NAME)
    yield World(store=store)
    store.close()


def test_a_restart_finds_everything_again(stored: World) -> None:
    """After every kind of change, a fresh catalog on the store equals the one that made it."""
    stored.ask(Api.CREATE_DATABASE, database_messages.CreateDatabaseRequest(database_name="db", ignore_if_exists=False))
    stored.create("a", count=3, comment="ü", custom={"k": "v"})
    stored.create("b", key=["id", "dt"], partitions=["dt"], properties={"table.merge-engine": "first_row"})
    stored.create("gone")
    stored.ask(Api.CREATE_PARTITION, partition_request("b", dt="1"))
    stored.ask(Api.CREATE_PARTITION, partition_request("b", dt="2"))
    stored.ask(Api.ALTER_TABLE, alter_request("a", **{"table.log.ttl": "1 h"}))
    column = table_messages.PbAddColumn(column_name="c", data_type_json=b'{"type":"STRING"}', column_position_type=0)
    grow = table_messages.AlterTableRequest(table_path=path("a"), ignore_if_not_exists=False, add_columns=(column,))
    stored.ask(Api.ALTER_TABLE, grow)
    stored.ask(Api.DROP_TABLE, table_messages.DropTableRequest(table_path=path("gone"), ignore_if_not_exists=False))
    assert state(Catalog(stored.store)) == state(stored.catalog)
    assert stored.table("a").schema_id == 2


def test_ids_are_not_reused_after_a_restart(stored: World) -> None:
    """Dropping the newest table does not give its id away."""
    first = stored.create("a").table_id
    writer = stored.coordinator.writer_ids.take()
    stored.catalog.drop_table(first)
    again = World(store=stored.store)
    assert again.create("a").table_id > first
    assert again.coordinator.writer_ids.take() > writer


def test_tables_are_found_by_name_and_id(world: World) -> None:
    """Both ways lead to the same value; unknown ones to None."""
    table = world.create()
    assert world.catalog.table_by_id(table.table_id) is world.catalog.table_by_path(TablePath("fluss", "t"))
    assert world.catalog.table_by_id(99) is None
    assert world.catalog.table_by_path(TablePath("fluss", "nope")) is None
    assert world.catalog.table_by_path(TablePath("nope", "t")) is None
    assert world.catalog.schema(table.table_id, 1) == table.schema
    assert world.catalog.schema(table.table_id, 2) is None
    assert world.catalog.schema(99, 1) is None
    assert world.catalog.partition_by_name(99, "x") is None
    assert world.catalog.partitions_of(99) == []


def test_buckets_are_those_of_tables_and_partitions(world: World) -> None:
    """A partitioned table has buckets only in its partitions."""
    plain = world.create("plain", count=2)
    parts = world.create("parts", count=2, partitions=["dt"])
    world.ask(Api.CREATE_PARTITION, partition_request("parts", dt="1"))
    partition = world.catalog.partitions_of(parts.table_id)[0].partition_id
    assert set(world.catalog.all_buckets()) == {
        *(TableBucket(plain.table_id, None, b) for b in range(2)),
        *(TableBucket(parts.table_id, partition, b) for b in range(2)),
    }
    assert all(world.catalog.bucket_exists(bucket) for bucket in world.catalog.all_buckets())


def test_other_buckets_do_not_exist(world: World) -> None:
    """A wrong table, bucket or partition is none of ours."""
    plain = world.create("plain").table_id
    parts = world.create("parts", partitions=["dt"]).table_id
    world.ask(Api.CREATE_PARTITION, partition_request("parts", dt="1"))
    partition = world.catalog.partitions_of(parts)[0].partition_id
    for bucket in (
        TableBucket(99, None, 0),
        TableBucket(plain, None, 1),
        TableBucket(plain, None, -1),
        TableBucket(plain, partition, 0),
        TableBucket(parts, None, 0),
        TableBucket(parts, 99, 0),
    ):
        assert not world.catalog.bucket_exists(bucket), bucket


def test_a_dropped_table_is_told_with_all_its_buckets(world: World) -> None:
    """The tablet side learns what data can go, and nothing is found any more."""
    parts = world.create("parts", count=2, partitions=["dt"])
    for day in ("1", "2"):
        world.ask(Api.CREATE_PARTITION, partition_request("parts", dt=day))
    buckets = set(world.catalog.all_buckets())
    gone: list[TableBucket] = []
    world.coordinator.subscribe_to_drops(lambda event: gone.extend(event.buckets))
    world.catalog.drop_table(parts.table_id)
    assert set(gone) == buckets
    assert list(world.catalog.all_buckets()) == []
    assert all(world.catalog.partition_by_id(b.partition_id) is None for b in buckets if b.partition_id is not None)


class FullDisk(MemoryMetadataStore):
    """A store that fails when a change is to be made durable."""

    full = False

    def change(self):  # type: ignore[no-untyped-def]
        """Refuse once the disk is full."""
        if self.full:
            raise ErrorCode.STORAGE.error("disk full")
        return super().change()


def test_a_change_the_store_refuses_did_not_happen() -> None:
    """Memory never runs ahead of the disk."""
    store = FullDisk()
    world = World(store=store)
    world.create()
    world.create("parts", partitions=["dt"])
    before = state(world.catalog)
    store.full = True
    told = len(world.events)
    for api, request in (
        (Api.DROP_TABLE, table_messages.DropTableRequest(table_path=path(), ignore_if_not_exists=False)),
        (Api.ALTER_TABLE, alter_request(mine="x")),
        (Api.CREATE_PARTITION, partition_request("parts", dt="1")),
        (Api.CREATE_DATABASE, database_messages.CreateDatabaseRequest(database_name="db", ignore_if_exists=False)),
    ):
        with pytest.raises(LakewardError, match="disk full"):
            world.ask(api, request)
    assert state(world.catalog) == before
    assert len(world.events) == told
