"""Texts, as they stand in a CSV file → a column of a table's type. The inverse of cell_text.cell_writer."""

from __future__ import annotations

import json
from base64 import b64decode
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.model.data_types import NESTED, TypeRoot
from lakeward.model.schema import Column
from lakeward.records.arrow import arrow_casts
from lakeward.records.arrow.arrow_types import arrow_type
from lakeward.records.texts.json_columns import column_of_json, decoder_for

_TEXT = {TypeRoot.STRING, TypeRoot.CHAR}
_BYTES = {TypeRoot.BYTES, TypeRoot.BINARY}
#: Types that Arrow reads from text by itself; for the others (times, decimals) our casts know better.
_PLAIN = {
    TypeRoot.BOOLEAN,
    TypeRoot.TINYINT,
    TypeRoot.SMALLINT,
    TypeRoot.INTEGER,
    TypeRoot.BIGINT,
    TypeRoot.FLOAT,
    TypeRoot.DOUBLE,
}


def column_of_texts(texts: pa.Array, column: Column) -> pa.Array:
    """The column, or a misfit (see misfits) when a text cannot be read as its type."""
    root = column.type.root
    if root in _TEXT:
        return texts
    texts = pc.utf8_trim_whitespace(texts)
    target = arrow_type(column.type)
    if root in _PLAIN:
        return texts.cast(target)
    if root in _BYTES:
        return pa.array([None if t is None else b64decode(t, validate=True) for t in texts.to_pylist()], type=target)
    if root in NESTED:
        return _of_json_texts(texts, column)
    return arrow_casts.cast(texts, target, column.name, column.type)


def _of_json_texts(texts: pa.Array, column: Column) -> pa.Array:
    decode = decoder_for([column.type]).decode
    values: list[Any] = []
    for text in texts.to_pylist():
        try:
            values.append(None if text is None else decode(text))
        except json.JSONDecodeError as wrong:
            raise ValueError(f"{text!r} is not JSON: {wrong}") from wrong
    return column_of_json(values, column)
