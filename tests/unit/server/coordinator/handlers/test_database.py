"""Databases through the wire's own forms."""

from __future__ import annotations

import json
from typing import Any

import pytest
from coordinator_world import World, table_json

from lakeward.model.table import TablePath
from lakeward.protocol.api import Api
from lakeward.protocol.messages import database as messages
from lakeward.protocol.messages.shared import PbAlterConfig
from lakeward.server.catalog.events import TableDropped

UNEXPECTED, NOT_THERE, NOT_EMPTY, THERE, INVALID = -1, 4, 5, 6, 16


def create(name: str = "db", body: bytes | None = None, *, ignore: bool = False) -> messages.CreateDatabaseRequest:
    """A request to create a database."""
    return messages.CreateDatabaseRequest(database_name=name, ignore_if_exists=ignore, database_json=body)


def drop(name: str = "db", *, ignore: bool = False, cascade: bool = False) -> messages.DropDatabaseRequest:
    """A request to drop a database."""
    return messages.DropDatabaseRequest(database_name=name, ignore_if_not_exists=ignore, cascade=cascade)


def alter(name: str = "db", comment: str | None = None, *, ignore: bool = False, **changes: str | None) -> Any:
    """A request to set custom properties, or to reset those given as None."""
    return messages.AlterDatabaseRequest(
        database_name=name,
        ignore_if_not_exists=ignore,
        comment=comment,
        config_changes=tuple(
            PbAlterConfig(config_key=k, config_value=v, op_type=1 if v is None else 0) for k, v in changes.items()
        ),
    )


def info(world: World, name: str = "db") -> Any:
    """A database's descriptor as told to clients."""
    answer = world.ask(Api.GET_DATABASE_INFO, messages.GetDatabaseInfoRequest(database_name=name))
    return json.loads(answer.database_json)


def names(world: World) -> tuple[str, ...]:
    """Every database."""
    return tuple(world.ask(Api.LIST_DATABASES, messages.ListDatabasesRequest()).database_name)


def test_a_new_server_has_the_default_database(world: World) -> None:
    """It is called fluss and cannot be dropped."""
    assert names(world) == ("fluss",)
    assert world.refusal(Api.DROP_DATABASE, drop("fluss", cascade=True)).code.value == UNEXPECTED


def test_the_life_of_a_database(world: World) -> None:
    """Created, listed, described, dropped."""
    world.ask(Api.CREATE_DATABASE, create(body=b'{"version":1,"comment":"c","custom_properties":{"a":"b"}}'))
    assert names(world) == ("db", "fluss")
    assert info(world) == {"version": 1, "comment": "c", "custom_properties": {"a": "b"}}
    assert world.ask(Api.DATABASE_EXISTS, messages.DatabaseExistsRequest(database_name="db")).exists
    world.ask(Api.DROP_DATABASE, drop())
    assert not world.ask(Api.DATABASE_EXISTS, messages.DatabaseExistsRequest(database_name="db")).exists


def test_a_database_without_descriptor_has_an_empty_one(world: World) -> None:
    """custom_properties is always told."""
    world.ask(Api.CREATE_DATABASE, create())
    assert info(world) == {"version": 1, "custom_properties": {}}


def test_flags_make_repetition_harmless(world: World) -> None:
    """Ignoring is success, not ignoring has its code."""
    world.ask(Api.CREATE_DATABASE, create())
    assert world.refusal(Api.CREATE_DATABASE, create()).code.value == THERE
    world.ask(Api.CREATE_DATABASE, create(ignore=True))
    assert world.refusal(Api.DROP_DATABASE, drop("nope")).code.value == NOT_THERE
    world.ask(Api.DROP_DATABASE, drop("nope", ignore=True))
    assert world.refusal(Api.ALTER_DATABASE, alter("nope", a="b")).code.value == NOT_THERE
    world.ask(Api.ALTER_DATABASE, alter("nope", a="b", ignore=True))
    asking = messages.GetDatabaseInfoRequest(database_name="nope")
    assert world.refusal(Api.GET_DATABASE_INFO, asking).code.value == NOT_THERE


def test_a_database_with_tables_goes_only_with_them() -> None:
    """Cascading drops the tables too, and tells so."""
    world = World()
    world.ask(Api.CREATE_DATABASE, create())
    world.coordinator.tables.create(TablePath("db", "t"), table_json(), ignore_if_exists=False)
    assert world.refusal(Api.DROP_DATABASE, drop()).code.value == NOT_EMPTY
    world.ask(Api.DROP_DATABASE, drop(cascade=True))
    assert isinstance(world.events[-1], TableDropped)
    assert list(world.catalog.tables()) == []


def test_properties_and_comment_change(world: World) -> None:
    """Set, reset, and an empty comment removes it; the time of change is told."""
    world.ask(Api.CREATE_DATABASE, create())
    world.clock.advance(5)
    world.ask(Api.ALTER_DATABASE, alter(a="1", b="2", comment="hello"))
    assert info(world) == {"version": 1, "comment": "hello", "custom_properties": {"a": "1", "b": "2"}}
    world.ask(Api.ALTER_DATABASE, alter(a=None, comment=""))
    assert info(world) == {"version": 1, "custom_properties": {"b": "2"}}
    answer = world.ask(Api.GET_DATABASE_INFO, messages.GetDatabaseInfoRequest(database_name="db"))
    assert answer.modified_time == answer.created_time + 5


def test_other_operations_are_refused(world: World) -> None:
    """Appending to a property means nothing."""
    world.ask(Api.CREATE_DATABASE, create())
    append = PbAlterConfig(config_key="a", config_value="1", op_type=2)
    request = messages.AlterDatabaseRequest(database_name="db", ignore_if_not_exists=False, config_changes=(append,))
    assert world.refusal(Api.ALTER_DATABASE, request).code.value == UNEXPECTED


def test_summaries_count_tables(world: World) -> None:
    """When asked for, summaries come instead of names."""
    world.create("a")
    world.create("b")
    answer = world.ask(Api.LIST_DATABASES, messages.ListDatabasesRequest(include_summary=True))
    assert answer.database_name == ()
    assert [(s.database_name, s.table_count) for s in answer.database_summary] == [("fluss", 2)]


@pytest.mark.parametrize("name", ["", "..", "../../etc", "a b", "__x", "a" * 201, "a" * 100_000])
def test_bad_names_are_refused(world: World, name: str) -> None:
    """A database is a directory, so its name is a plain one."""
    refused = world.refusal(Api.CREATE_DATABASE, create(name))
    assert refused.code.value == INVALID
    assert len(refused.message) < 700


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"17",
        b"\xff",
        b"[" * 100_000,
        b'{"comment":1}',
        b'{"custom_properties":[]}',
        b'{"comment":"\\ud800"}',
    ],
)
def test_a_bad_descriptor_is_refused(world: World, body: bytes) -> None:
    """Never an unexpected error."""
    assert world.refusal(Api.CREATE_DATABASE, create(body=body)).code.value == INVALID
