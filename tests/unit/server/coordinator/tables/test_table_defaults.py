"""What is filled in where a table says nothing."""

from __future__ import annotations

import pytest
from coordinator_world import World


def test_a_log_table_gets_a_factor_and_buckets() -> None:
    """Both come from the server's options."""
    world = World(default_bucket_number="3")
    table = world.create(count=None)
    assert table.bucket_count == 3
    assert table.descriptor.properties == {"table.replication.factor": "1"}


def test_a_primary_key_table_gets_its_format_and_bucket_key(world: World) -> None:
    """Key encoding and standby are written out, buckets follow the key."""
    table = world.create(key=["id"])
    assert table.descriptor.properties == {
        "table.replication.factor": "1",
        "table.kv.format-version": "2",
        "table.kv.standby-replica.enabled": "true",
    }
    assert table.descriptor.bucket_keys == ("id",)
    assert not table.schema.column("id").type.nullable


@pytest.mark.parametrize("engine", ["first_row", "aggregation", "FIRST_ROW"])
def test_a_merge_engine_ignores_deletes(world: World, engine: str) -> None:
    """Unless the table says otherwise."""
    table = world.create("a", key=["id"], properties={"table.merge-engine": engine})
    assert table.descriptor.properties["table.delete.behavior"] == "IGNORE"
    table = world.create("b", key=["id"], properties={"table.merge-engine": engine, "table.delete.behavior": "disable"})
    assert table.descriptor.properties["table.delete.behavior"] == "disable"


def test_several_partition_keys_are_not_created_ahead(world: World) -> None:
    """The default of 2 would be refused, so 0 is written out."""
    auto = {"table.auto-partition.enabled": "true", "table.auto-partition.key": "dt"}
    table = world.create(partitions=["dt", "name"], properties=auto)
    assert table.descriptor.properties["table.auto-partition.num-precreate"] == "0"


def test_what_a_table_says_stays(world: World) -> None:
    """Values are kept as they were written."""
    given = {"table.log.ttl": "3 Days", "table.replication.factor": "1"}
    assert world.create(properties=given).descriptor.properties == given


def test_names_of_older_guides_are_stored_under_their_canonical_ones(world: World) -> None:
    """Wherever they arrive."""
    table = world.create(
        count=None,
        properties={"log.retention.hours": "48", "table.replication-factor": "1"},
        custom={"bucket.num": "5", "log.segment.bytes": "1048576", "mine": "x"},
    )
    assert table.bucket_count == 5
    assert table.descriptor.properties == {
        "table.log.ttl": "48 h",
        "table.replication.factor": "1",
        "table.log.segment.file-size": "1048576b",
    }
    assert table.descriptor.custom_properties == {"mine": "x"}


def test_two_numbers_of_buckets_are_refused(world: World) -> None:
    """The alias and the descriptor must agree."""
    assert world.create_code(count=2, custom={"bucket.num": "5"}) == 39
    assert world.create(count=5, custom={"bucket.num": "5"}).bucket_count == 5


def test_keys_that_a_lake_cannot_write_keep_their_own_encoding() -> None:
    """In Iceberg a key is one column, and no SMALLINT: such tables are not marked, so every client can write them."""
    world = World(datalake_format="iceberg")
    format_ = "table.datalake.format"
    columns = ["id INTEGER", "name STRING", "small SMALLINT"]
    assert world.create("one", columns=columns, key=["id"]).descriptor.properties[format_] == "iceberg"
    assert world.create("log", columns=columns).descriptor.properties[format_] == "iceberg"
    assert format_ not in world.create("two", columns=columns, key=["id", "name"]).descriptor.properties
    assert format_ not in world.create("small", columns=columns, key=["small"]).descriptor.properties
