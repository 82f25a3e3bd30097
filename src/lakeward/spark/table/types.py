"""Spark's types ↔ column types, in the JSON form that Spark itself writes; no pyspark needed.

    spark_schema(schema)         {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": false, …}]}
    schema_of_spark(text)        a table's schema from `StructType.json()`

What Spark's own type does not say travels in a field's metadata: the comment (`comment`), the length of CHAR
(`__CHAR_VARCHAR_TYPE_STRING`, Spark's own key), and under `fluss.type` the declared type wherever Spark's type alone
would come back as another one: TIMESTAMP and TIMESTAMP_LTZ of a precision other than 6, BINARY(n), TIME(7…9).

| column type | Spark | remark |
|---|---|---|
| TIMESTAMP_LTZ(p), TIMESTAMP(p) | timestamp, timestamp_ntz | microseconds; when read, nanoseconds are rounded down |
| TIME(p) | time(p), at most time(6) | values have milliseconds; Spark 4.1 wants spark.sql.timeType.enabled |
| CHAR(n) | char(n) | |
| STRING | string | varchar(n) is taken as STRING: tables have no such limit |
| BINARY(n), BYTES | binary | |
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from lakeward.errors import ErrorCode, InvalidError, LakewardError
from lakeward.model.data_types import (
    ARRAY,
    BIGINT,
    BOOLEAN,
    BYTES,
    CHAR,
    DATE,
    DECIMAL,
    DOUBLE,
    FLOAT,
    INT,
    MAP,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    DataType,
    RowField,
    TypeRoot,
)
from lakeward.model.schema import Column, Schema
from lakeward.model.type_text import parse_type
from lakeward.spark.table.field_metadata import (
    CHAR_KEY,
    COLLATION_KEY,
    TYPE_KEY,
    bare,
    catalog_text,
    copy_comments,
    holds_char,
    with_chars,
)

SPARK_TIME_DIGITS = 6

SparkType: TypeAlias = str | dict[str, Any]

_SPARK_OF_ROOT = {
    TypeRoot.BOOLEAN: "boolean",
    TypeRoot.TINYINT: "byte",
    TypeRoot.SMALLINT: "short",
    TypeRoot.INTEGER: "integer",
    TypeRoot.BIGINT: "long",
    TypeRoot.FLOAT: "float",
    TypeRoot.DOUBLE: "double",
    TypeRoot.STRING: "string",
    TypeRoot.BINARY: "binary",
    TypeRoot.BYTES: "binary",
    TypeRoot.DATE: "date",
    TypeRoot.TIMESTAMP: "timestamp_ntz",
    TypeRoot.TIMESTAMP_LTZ: "timestamp",
}
_TYPE_OF_SPARK = {
    "boolean": BOOLEAN(),
    "byte": TINYINT(),
    "short": SMALLINT(),
    "integer": INT(),
    "long": BIGINT(),
    "float": FLOAT(),
    "double": DOUBLE(),
    "string": STRING(),
    "binary": BYTES(),
    "date": DATE(),
    "timestamp": TIMESTAMP_LTZ(6),
    "timestamp_ntz": TIMESTAMP(6),
}
_NUMBERED = re.compile(r"(\w+)\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\)")
#: The collation that every text has anyway; SHOW CREATE TABLE prints it.
_PLAIN_COLLATION = " collate UTF8_BINARY"
_HINTS = {
    "void": "it holds only NULLs; give it a type, for example with CAST(… AS STRING)",
    "variant": "store it as STRING with to_json(…)",
    "calendar_interval": "store it as a number of seconds or as STRING",
}


def spark_schema(schema: Schema, *, raw_char: bool = False) -> dict[str, Any]:
    """A schema as Spark's JSON. With `raw_char` CHAR is a type of its own, as catalogs declare it; without it is
    a string with Spark's metadata, as DataFrames carry it."""
    fields = [_spark_field(c.name, c.type, c.comment, raw_char=raw_char, top=True) for c in schema.columns]
    return {"type": "struct", "fields": fields}


def spark_type(type_: DataType, *, raw_char: bool = False) -> SparkType:
    """A type as Spark's JSON; whether it may be NULL is said by what holds it."""
    match type_.root:
        case TypeRoot.CHAR:
            return f"char({type_.length})" if raw_char else "string"
        case TypeRoot.DECIMAL:
            return f"decimal({type_.precision},{type_.scale})"
        case TypeRoot.TIME:
            return f"time({min(type_.precision or 0, SPARK_TIME_DIGITS)})"
        case TypeRoot.ARRAY:
            assert type_.element is not None
            element = spark_type(type_.element, raw_char=raw_char)
            return {"type": "array", "elementType": element, "containsNull": type_.element.nullable}
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return {
                "type": "map",
                "keyType": spark_type(type_.key, raw_char=raw_char),
                "valueType": spark_type(type_.value, raw_char=raw_char),
                "valueContainsNull": type_.value.nullable,
            }
        case TypeRoot.ROW:
            fields = [_spark_field(f.name, f.type, f.description, raw_char=raw_char, top=False) for f in type_.fields]
            return {"type": "struct", "fields": fields}
        case root:
            return _SPARK_OF_ROOT[root]


def _spark_field(name: str, type_: DataType, comment: str | None, *, raw_char: bool, top: bool) -> dict[str, Any]:
    metadata: dict[str, str] = {} if comment is None else {"comment": comment}
    if top and not raw_char and holds_char(type_):
        metadata[CHAR_KEY] = catalog_text(spark_type(type_, raw_char=True))
    if top and bare(_type_of(spark_type(type_, raw_char=True))) != bare(type_):
        metadata[TYPE_KEY] = str(bare(type_))
    spark = spark_type(type_, raw_char=raw_char)
    return {"name": name, "type": spark, "nullable": type_.nullable, "metadata": metadata}


def schema_of_spark(form: str | Mapping[str, Any], primary_key: Sequence[str] = ()) -> Schema:
    """A table's schema from Spark's JSON, as `StructType.json()` gives it; a refusal names the column."""
    struct = json.loads(form) if isinstance(form, str) else form
    columns = [Column(f["name"], field_type(f), comment=_comment(f)) for f in struct["fields"]]
    return Schema.of(columns, primary_key)


def field_type(field: Mapping[str, Any]) -> DataType:
    """The column type of one field of a struct in Spark's JSON, its metadata considered."""
    metadata: Mapping[str, Any] = field.get("metadata") or {}
    if metadata.get(COLLATION_KEY):
        raise ErrorCode.INVALID_TABLE.error(
            f"Column '{field['name']}' has a collation, which tables do not keep; declare it plain STRING."
        )
    try:
        found = _type_of(field["type"])
    except InvalidError as wrong:
        raise ErrorCode.INVALID_TABLE.error(f"Column '{field['name']}': {wrong}") from wrong
    found = with_chars(found, metadata.get(CHAR_KEY))
    found = _declared_type(found, metadata.get(TYPE_KEY))
    return found if field.get("nullable", True) else found.not_null()


def _comment(field: Mapping[str, Any]) -> str | None:
    comment = (field.get("metadata") or {}).get("comment")
    return None if comment is None else str(comment)


def data_type_of_spark(form: SparkType, *, nullable: bool = True) -> DataType:
    """The column type of a type in Spark's JSON; refuses types without a counterpart."""
    found = _type_of(form)
    return found if nullable else found.not_null()


def _type_of(form: SparkType) -> DataType:
    if isinstance(form, str):
        name = form.removesuffix(_PLAIN_COLLATION)
        return _TYPE_OF_SPARK.get(name) or _numbered_type(name)
    match form.get("type"):
        case "array":
            return ARRAY(data_type_of_spark(form["elementType"], nullable=form["containsNull"]))
        case "map":
            return MAP(
                _type_of(form["keyType"]), data_type_of_spark(form["valueType"], nullable=form["valueContainsNull"])
            )
        case "struct":
            fields = tuple(RowField(f["name"], field_type(f), _comment(f)) for f in form["fields"])
            return DataType(TypeRoot.ROW, fields=fields)
        case "udt":
            raise _refusal(str(form.get("pyClass") or form.get("class")), "use the type it is stored as")
        case other:
            raise _refusal(str(other))


def _numbered_type(name: str) -> DataType:
    match = _NUMBERED.fullmatch(name)
    if match is not None:
        first, second = int(match[2]), int(match[3] or 0)
        match match[1]:
            case "decimal":
                if second < 0:
                    raise _refusal(name, "its scale is negative")
                return DECIMAL(first, second)
            case "char":
                return CHAR(first)
            case "varchar":
                return STRING()
            case "time":
                return TIME(first)
            case "timestamp_ltz":
                return TIMESTAMP_LTZ(first)
            case "timestamp_ntz":
                return TIMESTAMP(first)
            case _:
                pass
    if name == "decimal":
        return DECIMAL(10, 0)
    raise _refusal(name)


def _refusal(name: str, hint: str = "") -> LakewardError:
    hint = hint or _HINTS.get(name) or "cast it to a supported type, or leave it out"
    return ErrorCode.INVALID_TABLE.error(f"Spark's type {name} has no counterpart as a column type: {hint}.")


def _declared_type(found: DataType, text: str | None) -> DataType:
    """The declared type, as long as it still says the same as Spark's: a cast may have left the metadata behind."""
    if not text:
        return found
    try:
        declared = parse_type(text)
    except InvalidError:
        return found
    same = spark_type(declared, raw_char=True) == spark_type(bare(found), raw_char=True)
    return copy_comments(declared, found) if same else found
