"""Any Paimon table as if it were ours: its columns in our types, its keys and partitions."""

from __future__ import annotations

import re
from typing import Any

from lakeward.errors import ErrorCode, InvalidError
from lakeward.lake.paimon.schema.schema_file import PaimonSchema
from lakeward.model.data_types import ARRAY, BYTES, MAP, STRING, DataType, RowField, TypeRoot
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_type

_NOT_NULL = " NOT NULL"
_LTZ = re.compile(r"TIMESTAMP(\(\d\))? WITH LOCAL TIME ZONE")
_UNBOUNDED = {"VARCHAR": STRING(), "VARBINARY": BYTES()}


def describe_schema(path: TablePath, schema: PaimonSchema) -> TableInfo:
    """A table of the lake in our words; a type that we have no word for is refused with its column."""
    columns = []
    for field in schema.fields:
        try:
            columns.append(Column(field.name, _type(field.type), comment=field.description))
        except InvalidError:
            raise ErrorCode.INVALID_TABLE.error(
                f"The lake's table {path} cannot be read here: its column '{field.name}' is {field.type}."
            ) from None
    descriptor = TableDescriptor(
        Schema.of(columns, schema.primary_keys), schema.partition_keys, bucket_count=1, comment=schema.comment
    )
    return TableInfo(path, 0, schema.id, descriptor, 0, 0)


def _type(form: Any) -> DataType:
    text: str = form if isinstance(form, str) else form["type"]
    found = _plain_type(text.removesuffix(_NOT_NULL)) if isinstance(form, str) else _nested_type(form)
    return found.not_null() if text.endswith(_NOT_NULL) else found


def _plain_type(text: str) -> DataType:
    zoned = _LTZ.fullmatch(text)
    if zoned is not None:
        return parse_type(f"TIMESTAMP_LTZ{zoned[1] or '(6)'}")
    return _UNBOUNDED.get(text.partition("(")[0]) or parse_type(text)


def _nested_type(form: dict[str, Any]) -> DataType:
    match form["type"].removesuffix(_NOT_NULL):
        case "ARRAY":
            return ARRAY(_type(form["element"]))
        case "MAP":
            return MAP(_type(form["key"]).not_null(), _type(form["value"]))
        case "ROW":
            fields = tuple(RowField(f["name"], _type(f["type"]), f.get("description")) for f in form["fields"])
            return DataType(TypeRoot.ROW, fields=fields)
        case other:
            raise ErrorCode.INVALID_TABLE.error(f"{other} is no type of ours.")
