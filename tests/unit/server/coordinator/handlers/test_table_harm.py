"""Table descriptors that mean harm: refused with a typed error, whatever they hold."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from coordinator_world import World, path, table_json
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lakeward.errors import LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages import table as messages
from lakeward.server.coordinator.tables.table_admin import TABLE_JSON_BYTES_MAX

INVALID_TABLE, INVALID_CONFIG = 15, 39


def nested(depth: int) -> dict[str, Any]:
    """A type within a type within …"""
    node: dict[str, Any] = {"type": "INTEGER"}
    for _ in range(depth):
        node = {"type": "ARRAY", "element_type": node}
    return node


BAD_JSON = {
    "nothing": b"",
    "half an object": b'{"schema":',
    "a list": b"[]",
    "a number": b"17",
    "null": b"null",
    "not utf-8": b"\xff\xfe\xfd",
    "open brackets": b"[" * 200_000,
    "open braces": b'{"a":' * 100_000,
    "a number of 100000 digits": b'{"schema":' + b"9" * 100_000 + b"}",
    "half a surrogate": table_json(comment="x").replace(b'"x"', b'"\\ud800"'),
    "half a surrogate in a column": table_json(columns=["x INTEGER"]).replace(b'"x"', b'"\\udfff"'),
    "no schema": b'{"partition_key":[],"properties":{},"custom_properties":{}}',
    "doubled columns": table_json(columns=["a INTEGER", "a INTEGER"]),
    "doubled ids": table_json(columns=["a INTEGER", "b INTEGER"]).replace(b'"id": 1', b'"id": 0'),
    "ids on some": table_json(columns=["a INTEGER", "b INTEGER"]).replace(b', "id": 1', b""),
    "an id of infinity": table_json(columns=["a INTEGER"]).replace(b'"id": 0', b'"id": Infinity'),
    "an id of NaN": table_json(columns=["a INTEGER"]).replace(b'"id": 0', b'"id": NaN'),
    "an id too large": table_json(columns=["a INTEGER"]).replace(b'"id": 0', b'"id": 4294967296'),
    "a column without a name": table_json(columns=[" INTEGER"]),
    "a column named by a number": table_json(columns=["a INTEGER"]).replace(b'"name": "a"', b'"name": 1'),
    "unknown type": table_json(columns=["a INTEGERR"]),
    "keys as text": table_json(bucket_key="id"),
    "keys as numbers": table_json(bucket_key=[1]),
    "partition keys as an object": table_json(partition_key={"a": 1}),
    "buckets as text": table_json(count="3"),
    "buckets as a fraction": table_json(count=1.5),
    "buckets as a switch": table_json(count=True),
    "properties as a list": table_json().replace(b'"properties": {}', b'"properties": []'),
    "a property as an object": table_json(custom_properties={"a": {"b": 1}}),
    "a property as nothing": table_json(custom_properties={"a": None}),
    "a comment as a number": table_json(comment=1),
    "types nested too deep": table_json(schema={"columns": [{"name": "a", "data_type": nested(70), "id": 0}]}),
    "types nested far too deep": table_json(schema={"columns": [{"name": "a", "data_type": nested(300), "id": 0}]}),
}


@pytest.mark.parametrize("what", BAD_JSON)
def test_a_descriptor_that_cannot_be_read_is_an_invalid_table(world: World, what: str) -> None:
    """Never an unexpected error, never a long message."""
    request = messages.CreateTableRequest(table_path=path(), table_json=BAD_JSON[what], ignore_if_exists=False)
    refused = world.refusal(Api.CREATE_TABLE, request)
    assert refused.code.value == INVALID_TABLE
    assert len(refused.message) < 1000


def test_a_deep_type_within_the_limit_is_a_type(world: World) -> None:
    """Sixty levels are absurd and legal."""
    world.create(schema={"columns": [{"name": "a", "data_type": nested(60), "id": 0}]})
    assert str(world.table().schema.column("a").type).count("ARRAY") == 60


def test_a_descriptor_has_a_largest_size(world: World) -> None:
    """A table is described in less than that, or not at all."""
    request = messages.CreateTableRequest(
        table_path=path(), table_json=b" " * (TABLE_JSON_BYTES_MAX + 1), ignore_if_exists=False
    )
    assert "limit" in world.refusal(Api.CREATE_TABLE, request).message


def test_numbers_and_switches_are_taken_as_text(world: World) -> None:
    """As upstream does for properties."""
    told = world.create(properties={"table.replication.factor": 1}, custom={"a": True})
    assert told.descriptor.properties == {"table.replication.factor": "1"}
    assert told.descriptor.custom_properties == {"a": "true"}


def test_ten_thousand_columns_take_no_quadratic_time(world: World) -> None:
    """A wide table is slow to describe, not to check."""
    world.create(columns=[f"c{i} INTEGER" for i in range(10_000)])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WHOLE = json.loads(
    table_json(
        columns=["id INTEGER", "name STRING", "tags ARRAY", "price DECIMAL"],
        key=["id"],
        buckets=["id"],
        properties={"table.log.ttl": "1 d", "table.merge-engine": "first_row"},
        custom={"mine": "x", "log.roll.hours": "1"},
        comment="c",
    )
)


def places(node: Any, prefix: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [prefix, *(place for key, child in children for place in places(child, (*prefix, key)))]


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(place=st.sampled_from(places(WHOLE)[1:]), value=json_values, removed=st.booleans())
def test_one_wrong_value_anywhere_is_refused_or_harmless(
    world: World, place: tuple[Any, ...], value: Any, removed: bool
) -> None:
    """Whatever stands wherever: the table is made, and can be read back, or it is refused with a typed error."""
    node = copy.deepcopy(WHOLE)
    parent = node
    for step in place[:-1]:
        parent = parent[step]
    if removed:
        del parent[place[-1]]
    else:
        parent[place[-1]] = value
    body = json.dumps(node).encode()
    request = messages.CreateTableRequest(table_path=path(), table_json=body, ignore_if_exists=False)
    try:
        world.ask(Api.CREATE_TABLE, request)
    except LakewardError as refused:
        code = refused.code.value
    else:
        code = 0
        world.ask(Api.GET_TABLE_INFO, messages.GetTableInfoRequest(table_path=path()))
        World(store=world.store)
        world.ask(Api.DROP_TABLE, messages.DropTableRequest(table_path=path(), ignore_if_not_exists=False))
    assert code in {0, INVALID_TABLE, 17, INVALID_CONFIG, 49}
