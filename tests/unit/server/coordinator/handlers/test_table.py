"""Tables through the wire's own forms: life and alterations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from coordinator_world import World, alter_request, create_request, path, table_json

from lakeward.protocol.api import Api
from lakeward.protocol.messages import table as messages
from lakeward.protocol.messages.shared import PbAlterConfig, PbTablePath
from lakeward.server.catalog.events import TableAltered, TableCreated, TableDropped

UNEXPECTED, NO_DATABASE, NO_TABLE, TABLE_EXISTS, NO_SCHEMA = -1, 4, 7, 8, 9
INVALID_TABLE, INVALID_DATABASE, INVALID_CONFIG, INVALID_ALTER = 15, 16, 39, 56


def add(name: str, type_: Any = "STRING", position: int = 0, **more: Any) -> messages.AlterTableRequest:
    """A request to add one column."""
    node = type_ if isinstance(type_, dict) else {"type": type_}
    column = messages.PbAddColumn(
        column_name=name, data_type_json=json.dumps(node).encode(), column_position_type=position, **more
    )
    return messages.AlterTableRequest(table_path=path(), ignore_if_not_exists=False, add_columns=(column,))


def alter_code(world: World, request: messages.AlterTableRequest) -> int:
    """The code with which a change is refused."""
    return int(world.refusal(Api.ALTER_TABLE, request).code.value)


def info(world: World, name: str = "t") -> Any:
    """The table's descriptor as told to clients."""
    answer = world.ask(Api.GET_TABLE_INFO, messages.GetTableInfoRequest(table_path=path(name)))
    return json.loads(answer.table_json)


def exists(world: World, name: str = "t") -> bool:
    """Whether the server says there is such a table."""
    return bool(world.ask(Api.TABLE_EXISTS, messages.TableExistsRequest(table_path=path(name))).exists)


def test_the_life_of_a_table(world: World) -> None:
    """Created, listed, found, dropped; re-created with a new id."""
    first = world.create()
    assert exists(world)
    assert world.ask(Api.LIST_TABLES, messages.ListTablesRequest(database_name="fluss")).table_name == ("t",)
    world.ask(Api.DROP_TABLE, messages.DropTableRequest(table_path=path(), ignore_if_not_exists=False))
    assert not exists(world)
    second = world.create()
    assert second.table_id > first.table_id
    assert [type(event) for event in world.events] == [TableCreated, TableDropped, TableCreated]


def test_flags_make_repetition_harmless(world: World) -> None:
    """ignore_if_exists and ignore_if_not_exists turn refusals into success."""
    table = world.create()
    assert world.create_code() == TABLE_EXISTS
    world.ask(Api.CREATE_TABLE, create_request("t", ignore=True))
    assert world.table() == table
    gone = messages.DropTableRequest(table_path=path("nope"), ignore_if_not_exists=False)
    assert world.refusal(Api.DROP_TABLE, gone).code.value == NO_TABLE
    world.ask(Api.DROP_TABLE, messages.DropTableRequest(table_path=path("nope"), ignore_if_not_exists=True))


def test_a_missing_database_is_told(world: World) -> None:
    """4 when creating and listing, 7 when asking for a table, plain false for exists."""
    elsewhere = PbTablePath(database_name="nope", table_name="t")
    request = messages.CreateTableRequest(table_path=elsewhere, table_json=table_json(), ignore_if_exists=False)
    assert world.refusal(Api.CREATE_TABLE, request).code.value == NO_DATABASE
    listing = messages.ListTablesRequest(database_name="nope")
    assert world.refusal(Api.LIST_TABLES, listing).code.value == NO_DATABASE
    asking = messages.GetTableInfoRequest(table_path=elsewhere)
    assert world.refusal(Api.GET_TABLE_INFO, asking).code.value == NO_TABLE
    assert not world.ask(Api.TABLE_EXISTS, messages.TableExistsRequest(table_path=elsewhere)).exists


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a b", "../../etc", "a/b", "__x", "ü", "a" * 201, "a" * 100_000, "a\0"]
)
def test_bad_names_are_refused(world: World, name: str) -> None:
    """Nothing that is no plain name gets near a directory; the message stays short."""
    request = messages.CreateTableRequest(table_path=path(name), table_json=table_json(), ignore_if_exists=False)
    refused = world.refusal(Api.CREATE_TABLE, request)
    assert refused.code.value == INVALID_TABLE
    assert len(refused.message) < 700
    request = messages.CreateTableRequest(
        table_path=path("t", database=name), table_json=table_json(), ignore_if_exists=False
    )
    assert world.refusal(Api.CREATE_TABLE, request).code.value == INVALID_DATABASE


def test_what_was_sent_comes_back(world: World) -> None:
    """Columns, keys, comment, properties and buckets round-trip; defaults are written out."""
    columns = ["id INTEGER", "when TIMESTAMP_WITHOUT_TIME_ZONE", "tags ARRAY"]
    world.create(columns=columns, buckets=["id"], count=3, comment="mine", custom={"a": "b"})
    told = info(world)
    assert told["comment"] == "mine"
    assert (told["bucket_key"], told["bucket_count"]) == (["id"], 3)
    assert told["custom_properties"] == {"a": "b"}
    assert told["properties"] == {"table.replication.factor": "1"}
    assert [c["id"] for c in told["schema"]["columns"]] == [0, 1, 2]
    assert told["schema"]["highest_field_id"] == 2


def test_columns_without_ids_are_numbered_depth_first(world: World) -> None:
    """A column first, then its nested fields."""
    row = {"type": "ROW", "fields": [{"name": "x", "field_type": {"type": "INTEGER"}}]}
    columns = [{"name": n, "data_type": t} for n, t in (("a", row), ("b", {"type": "STRING"}))]
    world.create(schema={"columns": columns})
    told = info(world)["schema"]
    assert [c["id"] for c in told["columns"]] == [0, 2]
    assert told["columns"][0]["data_type"]["fields"][0]["field_id"] == 1
    assert told["highest_field_id"] == 2


# Altering


def test_properties_are_set_and_reset(world: World) -> None:
    """table.* goes to the properties, anything else to the custom ones; time of change is told."""
    world.create()
    world.clock.advance(1000)
    world.ask(Api.ALTER_TABLE, alter_request(**{"table.log.ttl": "3 d", "mine": "x"}))
    told = info(world)
    assert told["properties"]["table.log.ttl"] == "3 d"
    assert told["custom_properties"] == {"mine": "x"}
    assert world.table().modified_ms == world.table().created_ms + 1000
    world.ask(Api.ALTER_TABLE, alter_request(**{"table.log.ttl": None, "mine": None}))
    assert info(world)["properties"] == {"table.replication.factor": "1"}
    assert info(world)["custom_properties"] == {}
    assert world.table().schema_id == 1


def test_a_change_that_changes_nothing_writes_nothing(world: World) -> None:
    """Same value, reset of the unset, empty request: success, no event."""
    world.create(properties={"table.log.ttl": "3 d"})
    world.clock.advance(1000)
    world.ask(Api.ALTER_TABLE, alter_request(**{"table.log.ttl": "3 d", "table.log.local-ttl": None}))
    world.ask(Api.ALTER_TABLE, alter_request())
    assert not [event for event in world.events if isinstance(event, TableAltered)]
    assert world.table().modified_ms == world.table().created_ms


@pytest.mark.parametrize(
    ("alias", "value", "key", "canonical"),
    [
        ("log.retention.hours", "5", "table.log.ttl", "5 h"),
        ("log.segment.bytes", "4096", "table.log.segment.file-size", "4096b"),
        ("log.retention.bytes", "-1", "table.log.retention.bytes", "0b"),
    ],
)
def test_aliases_alter_what_they_mean(world: World, alias: str, value: str, key: str, canonical: str) -> None:
    """Set under an older name, shown under the canonical one, reset under either."""
    world.create()
    world.ask(Api.ALTER_TABLE, alter_request(**{alias: value}))
    assert info(world)["properties"][key] == canonical
    world.ask(Api.ALTER_TABLE, alter_request(**{alias: None}))
    assert key not in info(world)["properties"]


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("table.log.format", "INDEXED", INVALID_ALTER),
        ("table.replication.factor", "1", INVALID_ALTER),
        ("table.replication-factor", "1", INVALID_ALTER),
        ("bucket.num", "7", INVALID_ALTER),
        ("table.no.such", "1", INVALID_ALTER),
        ("table.kv.standby-replica.enabled", "true", INVALID_ALTER),
        ("table.datalake.format", "iceberg", INVALID_ALTER),
        ("table.log.ttl", "soon", INVALID_CONFIG),
        ("table.log.tiered.local-segments", "0", INVALID_CONFIG),
        ("table.auto-partition.enabled", "true", INVALID_CONFIG),
        ("log.retention.hours", "x", INVALID_CONFIG),
    ],
)
def test_what_cannot_change_is_refused(world: World, key: str, value: str, code: int) -> None:
    """The result is judged as a new table would be; nothing is written."""
    before = world.create()
    assert alter_code(world, alter_request(**{key: value})) == code
    assert world.table() == before


def test_the_nearest_name_is_told_when_altering(world: World) -> None:
    """As when creating."""
    world.create()
    assert "'table.log.ttl'" in world.refusal(Api.ALTER_TABLE, alter_request(**{"table.log.tt": "1 d"})).message


@pytest.mark.parametrize(
    ("op", "value", "code"), [(2, "1 d", UNEXPECTED), (9, "1 d", UNEXPECTED), (0, None, INVALID_CONFIG)]
)
def test_properties_can_only_be_set_or_deleted(world: World, op: int, value: str | None, code: int) -> None:
    """Appending means nothing for a property, and setting needs a value."""
    world.create()
    change = PbAlterConfig(config_key="table.log.ttl", config_value=value, op_type=op)
    request = messages.AlterTableRequest(table_path=path(), ignore_if_not_exists=False, config_changes=(change,))
    assert alter_code(world, request) == code


def test_a_table_may_join_the_lake_later(world: World) -> None:
    """The cluster's format is recorded then, but where there are keys: those stay in the encoding they have."""
    world.create("plain")
    world.create("keyed", buckets=["id"])
    world.coordinator.config.alter([])
    lake = World(store=world.store, clock=world.clock, datalake_format="iceberg")
    lake.ask(Api.ALTER_TABLE, alter_request("plain", **{"table.datalake.enabled": "true"}))
    assert info(lake, "plain")["properties"]["table.datalake.format"] == "iceberg"
    keyed = alter_request("keyed", **{"table.datalake.enabled": "true"})
    lake.ask(Api.ALTER_TABLE, keyed)
    assert info(lake, "keyed")["properties"]["table.datalake.enabled"] == "true"
    assert "table.datalake.format" not in info(lake, "keyed")["properties"]
    off = World(store=world.store, clock=world.clock, datalake_enabled="false")
    off.ask(Api.ALTER_TABLE, alter_request("keyed", **{"table.datalake.enabled": "false"}))
    assert off.refusal(Api.ALTER_TABLE, keyed).code.value == INVALID_ALTER


def test_a_column_is_added_at_the_end(world: World) -> None:
    """The new schema gets the next id, its column ids no one had; old schemas stay."""
    world.create(columns=["a INTEGER", "b STRING"])
    row = {"type": "ROW", "fields": [{"name": "x", "field_type": {"type": "INTEGER"}}]}
    world.ask(Api.ALTER_TABLE, add("c", row, comment="new"))
    world.ask(Api.ALTER_TABLE, add("d"))
    latest = world.ask(Api.GET_TABLE_SCHEMA, messages.GetTableSchemaRequest(table_path=path()))
    schema = json.loads(latest.schema_json)
    assert latest.schema_id == 3
    assert [(c["name"], c["id"]) for c in schema["columns"]] == [("a", 0), ("b", 1), ("c", 2), ("d", 4)]
    assert schema["columns"][2]["comment"] == "new"
    old = world.ask(Api.GET_TABLE_SCHEMA, messages.GetTableSchemaRequest(table_path=path(), schema_id=1))
    assert [c["name"] for c in json.loads(old.schema_json)["columns"]] == ["a", "b"]
    assert info(world)["schema"] == schema


def test_unknown_schemas_are_told(world: World) -> None:
    """9 for a schema the table never had, and for the latest of no table; 7 for an old one of a table that has gone."""
    world.create()
    for schema_id in (0, 2, -1, 2**31 - 1):
        request = messages.GetTableSchemaRequest(table_path=path(), schema_id=schema_id)
        assert world.refusal(Api.GET_TABLE_SCHEMA, request).code.value == NO_SCHEMA
    for schema_id, code in ((None, NO_SCHEMA), (1, NO_TABLE)):
        request = messages.GetTableSchemaRequest(table_path=path("nope"), schema_id=schema_id)
        assert world.refusal(Api.GET_TABLE_SCHEMA, request).code.value == code


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (add("id"), INVALID_ALTER),
        (add("c", position=1), UNEXPECTED),
        (add("c", {"type": "STRING", "nullable": False}), UNEXPECTED),
        (add("__offset"), INVALID_TABLE),
        (add(""), INVALID_TABLE),
        (add("c", "NOPE"), INVALID_TABLE),
        (add("c", {"type": "DECIMAL", "precision": 99, "scale": 1}), INVALID_TABLE),
        (add("c", agg_function_type="sum"), INVALID_CONFIG),
        (add("c", agg_function_type="nope"), INVALID_CONFIG),
    ],
)
def test_columns_that_cannot_be_added(world: World, request_: messages.AlterTableRequest, code: int) -> None:
    """Each with the code upstream gives."""
    world.create()
    assert alter_code(world, request_) == code
    assert world.table().schema_id == 1


def test_columns_cannot_be_dropped_renamed_or_modified(world: World) -> None:
    """Upstream refuses these as unexpected, and so do we, saying so."""
    world.create()
    base = {"table_path": path(), "ignore_if_not_exists": False}
    for change in (
        {"drop_columns": (messages.PbDropColumn(column_name="name"),)},
        {"rename_columns": (messages.PbRenameColumn(old_column_name="name", new_column_name="x"),)},
        {"modify_columns": (messages.PbModifyColumn(column_name="name"),)},
    ):
        refused = world.refusal(Api.ALTER_TABLE, messages.AlterTableRequest(**base, **change))
        assert refused.code.value == UNEXPECTED
        assert refused.message.startswith("Not support ")


def test_properties_and_columns_do_not_mix(world: World) -> None:
    """One request changes the one or the other."""
    world.create()
    change = PbAlterConfig(config_key="mine", config_value="x", op_type=0)
    both = messages.AlterTableRequest(
        table_path=path(), ignore_if_not_exists=False, config_changes=(change,), add_columns=add("c").add_columns
    )
    assert alter_code(world, both) == INVALID_ALTER


def test_altering_a_table_that_is_not_there(world: World) -> None:
    """7, or nothing when that is to be ignored."""
    assert alter_code(world, alter_request("nope", mine="x")) == NO_TABLE
    ignored = messages.AlterTableRequest(table_path=path("nope"), ignore_if_not_exists=True)
    world.ask(Api.ALTER_TABLE, ignored)


def test_a_table_may_have_no_columns_yet(world: World) -> None:
    """As at Apache Fluss, whose clients make such tables; columns are added later."""
    assert world.create(columns=[]).schema.names == ()
    world.ask(Api.ALTER_TABLE, add("first"))
    assert world.table().schema.names == ("first",)
