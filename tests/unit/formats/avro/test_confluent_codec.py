"""Avro with a schema registry: each message by the schema that it was written by."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from schema_registry import Registry, schema_registry

from lakeward.errors import LakewardError
from lakeward.formats.door.registry import Format, format_of
from lakeward.model.data_types import BIGINT, DOUBLE, FLOAT, STRING
from lakeward.model.schema import Schema

SCHEMA = Schema.of([("id", BIGINT()), ("name", STRING()), ("price", DOUBLE())])


@pytest.fixture
def registry() -> Iterator[Registry]:
    """A registry of its own for each test."""
    with schema_registry() as made:
        yield made


def made(registry: Registry, **more: str) -> Format:
    """The format, told where the registry is."""
    options = {"avro-confluent.url": registry.url, "topic": "orders"}
    return format_of("avro-confluent", SCHEMA, options | {f"avro-confluent.{k}": v for k, v in more.items()})


def record(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """A schema by others."""
    return {"type": "record", "name": "Order", "fields": [{"name": n, "type": t} for n, t in fields]}


def message(number: int, schema: dict[str, Any], row: dict[str, Any]) -> bytes:
    """A message by others."""
    stream = io.BytesIO()
    fastavro.schemaless_writer(stream, schema, row)
    return b"\x00" + number.to_bytes(4, "big") + stream.getvalue()


def test_rows_are_written_under_a_number_and_read_by_it(registry: Registry) -> None:
    """The schema is registered once, under the topic's subject, and asked for once."""
    rows = pa.record_batch({"id": [1, None], "name": ["a", None], "price": [0.1, None]})
    format_ = made(registry)
    encoder, decoder = format_.encoder(), format_.decoder()
    messages = [*encoder.encode(rows), *encoder.encode(rows)]
    assert messages[0][:5] == b"\x00\x00\x00\x00\x01"
    for _ in range(2):
        found = decoder.decode(messages)
        assert found.rows.to_pylist() == rows.to_pylist() * 2
    assert registry.asked == ["POST /subjects/orders-value/versions", "GET /schemas/ids/1"]


def test_schemas_may_change(registry: Registry) -> None:
    """A field that is missing is NULL, one that is new left out, a narrower number is widened."""
    old, new = (
        record([("id", "int")]),
        record([("price", "float"), ("more", "string"), ("name", "string"), ("id", "long")]),
    )
    first, second = registry.add("orders-value", old), registry.add("orders-value", new)
    found = (
        made(registry)
        .decoder()
        .decode(
            [
                message(second, new, {"id": 2**40, "name": "b", "more": "x", "price": 0.5}),
                message(first, old, {"id": 1}),
            ]
        )
    )
    assert found.bad == []
    assert found.rows.to_pylist() == [
        {"id": 2**40, "name": "b", "price": 0.5},
        {"id": 1, "name": None, "price": None},
    ]


def test_a_value_that_does_not_fit_is_told(registry: Registry) -> None:
    """With its column; the records beside it are rows."""
    schema = record([("id", "string"), ("price", "double")])
    number = registry.add("orders-value", schema)
    narrow = Schema.of([("price", FLOAT())])
    format_ = format_of("avro-confluent", narrow, {"avro-confluent.url": registry.url})
    prices = [1.5, 1e300, float("inf")]
    found = format_.decoder().decode([message(number, schema, {"id": "x", "price": price}) for price in prices])
    assert found.rows["price"].to_pylist() == [1.5, float("inf")]
    assert [(b.index, b.reason) for b in found.bad] == [(1, "column 'price' of type FLOAT cannot hold 1e+300")]
    found = made(registry).decoder().decode([message(number, schema, {"id": "x", "price": 1.5})])
    assert [b.reason for b in found.bad] == ["column 'id' of type BIGINT cannot hold 'x'"]


def test_what_is_no_record_is_told(registry: Registry) -> None:
    """Without a number, of a schema that nobody knows, cut off, too long; the others are rows."""
    schema = record([("id", "long"), ("name", "string")])
    number = registry.add("orders-value", schema)
    right = message(number, schema, {"id": 1, "name": "abc"})
    found = (
        made(registry)
        .decoder()
        .decode([b"{}", b"", message(7, schema, {"id": 1, "name": ""}), right[:-1], right + b"x", right])
    )
    assert found.indexes.to_pylist() == [5]
    reasons = [bad.reason for bad in found.bad]
    assert reasons[0] == reasons[1] == "it does not begin with a zero and the number of a schema"
    assert reasons[2] == "the schema registry does not know schema 7"
    assert reasons[3].startswith("it is not a record of the schema")
    assert reasons[4] == "it is not a record of the schema: 1 bytes are left over"


def test_a_registry_that_is_busy_is_asked_again(registry: Registry) -> None:
    """With the name and password that were given; one that refuses is an error, and no message is bad for it."""
    rows = pa.record_batch({"id": [1], "name": ["a"], "price": [0.1]})
    registry.failures = [503, 429]
    encoder = made(registry, **{"basic-auth.user-info": "me:geheim"}).encoder()
    assert len(encoder.encode(rows)) == 1
    assert registry.authorization == "Basic bWU6Z2VoZWlt"
    registry.failures = [401]
    with pytest.raises(LakewardError, match=r"refused /schemas/ids/1\. HTTP 401") as refused:
        made(registry, **{"basic-auth.user-info": "me:geheim"}).decoder().decode(encoder.encode(rows))
    assert "geheim" not in str(refused.value)
    assert "geheim" not in repr(made(registry, **{"basic-auth.user-info": "me:geheim"}))


def test_the_registry_must_be_named() -> None:
    """The error says how."""
    with pytest.raises(LakewardError, match=r"needs the option 'avro-confluent\.url'"):
        format_of("avro-confluent", SCHEMA, {}).decoder()
