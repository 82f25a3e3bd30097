"""Rows → records: keys, tombstones for deletes, and columns without a format."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type
from lakeward.spark.ingest.kafka.messages.records import RecordMaker


def maker(columns: dict[str, str], **options: str) -> RecordMaker:
    """Of a table with these columns."""
    schema = Schema.of([(name, parse_type(type_)) for name, type_ in columns.items()])
    return RecordMaker(schema, {key.replace("__", "."): value for key, value in options.items()})


def test_deletes_are_messages_without_a_value() -> None:
    """What was before an update is left out, keys are those of the rows."""
    made = maker({"_change_type": "STRING", "id": "BIGINT", "v": "STRING"}, format="json", key__fields="id")
    batch = pa.RecordBatch.from_pylist(
        [
            {"_change_type": "insert", "id": 1, "v": "a"},
            {"_change_type": "update_before", "id": 1, "v": "a"},
            {"_change_type": "update_after", "id": 1, "v": "b"},
            {"_change_type": "delete", "id": 1, "v": "b"},
        ]
    )
    records = made.records(batch)
    assert records.keys is not None
    assert [json.loads(key or b"") for key in records.keys] == [{"id": 1}] * 3
    assert [None if value is None else json.loads(value)["v"] for value in records.values] == ["a", "b", None]


def test_columns_of_kafka_itself() -> None:
    """As Spark's own sink has them."""
    made = maker({"key": "STRING", "value": "STRING", "topic": "STRING"})
    records = made.records(pa.RecordBatch.from_pylist([{"key": "k", "value": "v", "topic": "t"}]))
    assert (records.keys, records.values, records.topics) == ([b"k"], [b"v"], ["t"])
    with pytest.raises(LakewardError, match="'offset' is none of them"):
        maker({"offset": "BIGINT", "value": "BYTES"})
