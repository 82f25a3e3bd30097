"""LookupForm: a field for each column of a key, and what was typed into them; pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lakeward.model.data_types import TypeRoot
from lakeward.model.schema import Column
from lakeward.model.table import TableInfo
from lakeward.records.arrow.arrow_types import arrow_type
from lakeward.records.texts.misfits import MISFITS, misfit
from lakeward.records.texts.text_columns import column_of_texts

FIELD_PREFIX = "key."
_TEXT = {TypeRoot.STRING, TypeRoot.CHAR}
_BYTES = {TypeRoot.BYTES, TypeRoot.BINARY}
_EXAMPLES = {
    TypeRoot.DATE: "2026-11-18",
    TypeRoot.TIME: "12:30:00",
    TypeRoot.TIMESTAMP: "2026-11-18 12:30:00",
    TypeRoot.TIMESTAMP_LTZ: "2026-11-18 12:30:00Z",
    TypeRoot.BOOLEAN: "true",
    TypeRoot.BYTES: "0x00ff",
    TypeRoot.BINARY: "0x00ff",
}


@dataclass(frozen=True, slots=True)
class KeyField:
    """One column of the key: what was typed, and what is wrong with it."""

    column: Column
    text: str
    is_partition: bool
    error: str = ""

    @property
    def name(self) -> str:
        """The field's name in the form."""
        return FIELD_PREFIX + self.column.name

    @property
    def type(self) -> str:
        """The column's type; a key is never NULL, so that is not said."""
        return str(self.column.type).removesuffix(" NOT NULL")

    @property
    def example(self) -> str:
        """How a value is written, where that is not plain."""
        return _EXAMPLES.get(self.column.type.root, "")


@dataclass(frozen=True, slots=True)
class LookupForm:
    """The fields; `key` is what they say together, None while nobody has typed or something is wrong."""

    fields: list[KeyField]
    key: pa.Table | None

    @property
    def has_errors(self) -> bool:
        """Whether something is to be typed again."""
        return any(field.error for field in self.fields)


def prefix_names(info: TableInfo) -> tuple[str, ...]:
    """The first columns of the key by which many rows can be found; empty where the whole key is needed."""
    descriptor = info.descriptor
    names = tuple(dict.fromkeys((*descriptor.partition_keys, *descriptor.bucket_keys)))
    return names if len(names) < len(info.schema.primary_key) else ()


def lookup_form(info: TableInfo, typed: Mapping[str, str], *, by_prefix: bool) -> LookupForm:
    """The form of a table with a primary key; `typed` is by names of fields, empty before anybody has typed."""
    names = prefix_names(info) if by_prefix else info.schema.primary_key
    columns = [info.schema.column(name) for name in names]
    is_sent = any(FIELD_PREFIX + name in typed for name in names)
    fields, arrays = [], []
    for column in columns:
        text = typed.get(FIELD_PREFIX + column.name, "")
        value, error = _value(column, text) if is_sent else (None, "")
        fields.append(KeyField(column, text, column.name in info.descriptor.partition_keys, error))
        arrays.append(value)
    if not is_sent or any(field.error for field in fields):
        return LookupForm(fields, None)
    return LookupForm(fields, pa.table(arrays, names=list(names)))


def _value(column: Column, text: str) -> tuple[Any, str]:
    """The value as a column of one row, or what is wrong."""
    root = column.type.root
    if not text.strip() and root not in _TEXT:
        return None, "Type a value: a key has all of its columns."
    try:
        if root in _BYTES and text.strip().lower().startswith("0x"):
            return pa.array([bytes.fromhex(text.strip()[2:])], arrow_type(column.type)), ""
        return column_of_texts(pa.array([text]), column), ""
    except MISFITS:
        told = misfit(column, text)
        return None, told[0].upper() + told[1:] + "."
