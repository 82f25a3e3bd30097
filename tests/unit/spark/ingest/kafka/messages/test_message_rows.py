"""Messages → rows: columns of values and keys, what Kafka knows, deletes, and what cannot be read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type
from lakeward.spark.ingest.kafka.messages.message_rows import MessageRows
from lakeward.spark.ingest.kafka.messages.table_shape import TableShape


@dataclass
class Message:
    """What a consumer hands out."""

    at: int
    body: bytes | None
    name: bytes | None = None

    def value(self) -> bytes | None:
        """As librdkafka has it."""
        return self.body

    def key(self) -> bytes | None:
        """As librdkafka has it."""
        return self.name

    def offset(self) -> int:
        """As librdkafka has it."""
        return self.at

    def timestamp(self) -> tuple[int, int]:
        """As librdkafka has it."""
        return (1, 1_700_000_000_000 + self.at)

    def headers(self) -> list[tuple[str, bytes]] | None:
        """As librdkafka has it."""
        return [("h", b"%d" % self.at)] if self.at else None


def read(columns: dict[str, str], messages: list[Message], **options: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows, and the reasons of those that are none."""
    schema = Schema.of([(name, parse_type(type_)) for name, type_ in columns.items()])
    given = {"format": "json", **{key.replace("__", "."): value for key, value in options.items()}}
    batch, bad = MessageRows(TableShape.of(schema, given)).read(messages)
    return batch.to_pylist(), [one.reason for one in bad]


def body(**fields: Any) -> bytes:
    """JSON."""
    return json.dumps(fields).encode()


def test_rows_and_what_kafka_knows_of_them() -> None:
    """A message that cannot be read takes none of the metadata of its neighbours away."""
    messages = [Message(0, body(id=1)), Message(1, b"{oops"), Message(2, body(id=3))]
    columns = {"o": "BIGINT", "id": "BIGINT", "ts": "TIMESTAMP_LTZ(3)", "h": "MAP<STRING, BYTES>"}
    rows, bad = read(columns, messages, scan__metadata="offset:o;timestamp:ts;headers:h")
    times = [datetime.fromtimestamp(1_700_000_000, UTC).replace(microsecond=n * 1000) for n in (0, 2)]
    assert rows == [
        {"o": 0, "id": 1, "ts": times[0], "h": []},
        {"o": 2, "id": 3, "ts": times[1], "h": [("h", b"2")]},
    ]
    assert len(bad) == 1


def test_bad_messages_as_rows() -> None:
    """With a column for it, the reason is in the rows as well."""
    rows, bad = read(
        {"id": "BIGINT", "e": "STRING"}, [Message(0, b"x"), Message(1, body(id=2))], **{"scan__error-column": "e"}
    )
    assert [row["id"] for row in rows] == [2, None]
    assert [row["e"] for row in rows] == [None, bad[0]]


def test_upserts_and_deletes_by_key() -> None:
    """A message without a value deletes the row of its key, in its place among the others."""
    messages = [
        Message(0, body(id=1, v="a"), body(id=1)),
        Message(1, None, body(id=1)),
        Message(2, body(id=2, v="b"), body(id=2)),
    ]
    keyed = {"key__format": "json", "key__fields": "id", "scan__upsert": "true"}
    rows, bad = read({"_change_type": "STRING", "id": "BIGINT", "v": "STRING"}, messages, **keyed)
    assert [tuple(row.values()) for row in rows] == [
        ("update_after", 1, "a"),
        ("delete", 1, None),
        ("update_after", 2, "b"),
    ]
    assert bad == []


def test_keys_with_a_prefix() -> None:
    """Names of the key's columns are told from those of the value by it."""
    options = {
        "key__format": "json",
        "key__fields": "k_id",
        "key__fields-prefix": "k_",
        "value__fields-include": "EXCEPT_KEY",
    }
    rows, bad = read(
        {"k_id": "INT", "id": "INT"}, [Message(0, body(id=1), body(id=9)), Message(1, body(id=2), b"?")], **options
    )
    assert rows == [{"k_id": 9, "id": 1}]
    assert bad[0].startswith("its key: ")
    with pytest.raises(LakewardError, match=r"needs 'value\.fields-include' = 'EXCEPT_KEY'"):
        read({"k_id": "INT"}, [], **{**options, "value__fields-include": "ALL"})


def test_columns_without_a_format() -> None:
    """Kafka's own, and no others."""
    schema = Schema.of([("key", parse_type("BYTES")), ("offset", parse_type("BIGINT")), ("value", parse_type("BYTES"))])
    batch, _ = MessageRows(TableShape.of(schema, {})).read([Message(4, b"v", b"k"), Message(5, None)])
    assert batch.to_pylist() == [{"key": b"k", "offset": 4, "value": b"v"}, {"key": None, "offset": 5, "value": None}]
    with pytest.raises(LakewardError, match="Column 'id' is not one of Kafka's own"):
        TableShape.of(Schema.of([("id", parse_type("INT"))]), {})
