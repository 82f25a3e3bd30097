"""Stored values are read by the schema they were written with."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from fake_cluster import FakeCluster, table_info

from lakeward.client.state.value_decoder import ValueDecoder
from lakeward.errors import CorruptError
from lakeward.model import json_form
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.protocol.api import Api
from lakeward.protocol.messages.table import GetTableSchemaResponse
from lakeward.records.kernels.spans import Spans
from lakeward.records.row.compacted_row import encode_row

NOW = table_info("id INT, name STRING, note STRING, PRIMARY KEY (id) NOT ENFORCED", schema_id=2)
BEFORE = Schema.of(parse_columns("id INT, name STRING")[0], ["id"])


@pytest.fixture
def cluster() -> FakeCluster:
    """A cluster that knows the first schema."""
    made = FakeCluster()
    made.workers.shutdown()
    schema = json_form.dump(json_form.schema_to_json(BEFORE))
    made.answers[Api.GET_TABLE_SCHEMA] = GetTableSchemaResponse(schema_id=1, schema_json=schema)
    return made


def value(schema_id: int, *cells: Any) -> bytes:
    """A stored value."""
    columns = BEFORE.columns if schema_id == 1 else NOW.schema.columns
    return struct.pack("<h", schema_id) + encode_row([c.type for c in columns], cells)


async def test_values_of_two_schemas_in_their_order(cluster: FakeCluster) -> None:
    """Columns that were added since are NULL."""
    values = [value(2, 1, "a", "n"), value(1, 2, "b"), value(2, 3, None, "m"), value(1, 4, "d")]
    found = await ValueDecoder(cluster, NOW).decode(Spans.of(values))  # type: ignore[arg-type]
    assert [tuple(r.values()) for r in found.to_pylist()] == [
        (1, "a", "n"),
        (2, "b", None),
        (3, None, "m"),
        (4, "d", None),
    ]


async def test_asked_columns_in_the_asked_order(cluster: FakeCluster) -> None:
    """Of old and of new rows."""
    decoder = ValueDecoder(cluster, NOW, ["note", "id"])  # type: ignore[arg-type]
    found = await decoder.decode(Spans.of([value(1, 2, "b"), value(2, 1, "a", "n")]))
    assert found.to_pylist() == [{"note": None, "id": 2}, {"note": "n", "id": 1}]
    assert decoder.schema.names == ["note", "id"]


async def test_no_values_have_all_columns(cluster: FakeCluster) -> None:
    """An empty batch, not an error."""
    found = await ValueDecoder(cluster, NOW).decode(Spans.of([]))  # type: ignore[arg-type]
    assert (found.num_rows, found.schema.names) == (0, ["id", "name", "note"])


async def test_damaged_values_are_told(cluster: FakeCluster) -> None:
    """Too short for a schema id, or not a row of that schema."""
    for damaged in (b"\x02", value(2, 1, "a", "n")[:-1]):
        with pytest.raises(CorruptError, match=r"A stored row of db\.t cannot be read"):
            await ValueDecoder(cluster, NOW).decode(Spans.of([damaged]))  # type: ignore[arg-type]


async def test_a_few_values_one_by_one_are_the_same_rows(cluster: FakeCluster) -> None:
    """Old and new schemas, asked columns, and NULLs where there is no value."""
    values = [value(2, 1, "a", "n"), None, value(1, 2, "b")]
    found = await ValueDecoder(cluster, NOW).decode_few(values)  # type: ignore[arg-type]
    assert [tuple(r.values()) for r in found.to_pylist()] == [(1, "a", "n"), (None, None, None), (2, "b", None)]
    decoder = ValueDecoder(cluster, NOW, ["note", "id"])  # type: ignore[arg-type]
    assert (await decoder.decode_few(values[2:])).to_pylist() == [{"note": None, "id": 2}]
    assert (await decoder.decode_few([])).schema == decoder.schema
