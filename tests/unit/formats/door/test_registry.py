"""Formats by name."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.errors import LakewardError
from lakeward.formats.door.registry import format_of
from lakeward.model.data_types import BIGINT, STRING
from lakeward.model.schema import Schema

SCHEMA = Schema.of([("id", BIGINT()), ("name", STRING())])


def test_what_a_format_writes_it_reads() -> None:
    """A format is found by its name, and reads its own messages."""
    made = format_of("json", SCHEMA, {"topic": "orders"})
    rows = pa.RecordBatch.from_pydict({"id": [2**60 + 1, None], "name": ['a "b"\n', None]})
    messages = made.encoder().encode(rows)
    assert messages == [b'{"id":1152921504606846977,"name":"a \\"b\\"\\n"}', b'{"id":null,"name":null}']
    read = made.decoder().decode(messages)
    assert read.rows.to_pylist() == rows.to_pylist()
    assert read.indexes.to_pylist() == [0, 1]
    assert read.bad == []


def test_a_format_that_is_not_there_is_refused() -> None:
    """The refusal names those that are, and the nearest."""
    with pytest.raises(LakewardError, match=r"There is no format 'jsn'; there are json.*Did you mean 'json'"):
        format_of("jsn", SCHEMA, {})


def test_an_option_that_cannot_be_read_is_refused() -> None:
    """Of the format's own options; a misspelt one too."""
    with pytest.raises(LakewardError, match="is not a recognized connector property"):
        format_of("json", SCHEMA, {"json.ignore-parse-error": "true"})
