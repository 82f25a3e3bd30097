"""As much of Avro as manifests are made of; fastavro is the judge."""

from __future__ import annotations

import io
from typing import Any

import fastavro
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.lake.iceberg.read.avro_file import AvroFile, UnknownAvroError, reader_of

_PAIR = {
    "type": "record",
    "name": "pair",
    "fields": [{"name": "key", "type": "int"}, {"name": "value", "type": "long"}],
}
SCHEMA: dict[str, Any] = {
    "type": "record",
    "name": "r",
    "fields": [
        {"name": "n", "type": "long"},
        {"name": "text", "type": ["null", "string"]},
        {"name": "data", "type": ["bytes", "null"]},
        {"name": "yes", "type": "boolean"},
        {"name": "d", "type": "double"},
        {"name": "f", "type": {"type": "fixed", "name": "four", "size": 4}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "list", "type": {"type": "array", "items": "int"}},
        {"name": "map", "type": ["null", {"type": "array", "items": _PAIR, "logicalType": "map"}]},
    ],
}
_LONG = st.integers(-(1 << 63), (1 << 63) - 1)
_INT = st.integers(-(1 << 31), (1 << 31) - 1)
_RECORDS = st.fixed_dictionaries(
    {
        "n": _LONG,
        "text": st.none() | st.text(),
        "data": st.none() | st.binary(),
        "yes": st.booleans(),
        "d": st.floats(allow_nan=False),
        "f": st.binary(min_size=4, max_size=4),
        "day": _INT,
        "list": st.lists(_INT),
        "map": st.none() | st.dictionaries(_INT, _LONG),
    }
)


def written(records: list[dict[str, Any]], **options: Any) -> bytes:
    """A container, by fastavro, which does not know Iceberg's maps."""
    plain = [
        {**r, "map": None if r["map"] is None else [{"key": k, "value": v} for k, v in r["map"].items()]}
        for r in records
    ]
    stream = io.BytesIO()
    fastavro.writer(stream, {**SCHEMA}, plain, **options)
    return stream.getvalue()


@given(st.lists(_RECORDS, max_size=20), st.sampled_from(["null", "deflate"]), st.sampled_from([1, 16_000]))
def test_what_was_written_is_read(records: list[dict[str, Any]], codec: str, block_bytes: int) -> None:
    """Whatever the values, one record in a block or many."""
    data = written(records, codec=codec, sync_interval=block_bytes)
    assert list(AvroFile(data).records()) == records


def test_a_codec_that_others_use_is_read_with_the_help_of_their_library() -> None:
    """Slower to begin with, but read."""
    record = {
        "n": 1,
        "text": None,
        "data": b"x" * 100,
        "yes": True,
        "d": 0.5,
        "f": b"abcd",
        "day": 3,
        "list": [],
        "map": {1: 2},
    }
    assert list(AvroFile(written([record], codec="zstandard")).records()) == [record]


def test_what_is_not_understood_is_refused() -> None:
    """No guesses."""
    with pytest.raises(UnknownAvroError, match="no Avro"):
        AvroFile(b"PAR1" + bytes(100))
    with pytest.raises(UnknownAvroError, match="schema"):
        reader_of({"type": "map", "values": "int"})
