"""Descriptors ↔ JSON, as stored in the catalog and as sent on the wire."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import DataType, RowField, TypeRoot
from lakeward.model.schema import AGGREGATE_FUNCTIONS, Aggregate, Column, Schema
from lakeward.model.table import TableDescriptor

_VERSION = 1
_INT32_MAX = 2**31 - 1
#: Deeper than any honest type, far from Python's own limit, which everything that walks types must stay below.
TYPE_DEPTH_MAX = 64
_DEFAULT_PRECISION = {TypeRoot.TIME: 0, TypeRoot.TIMESTAMP: 6, TypeRoot.TIMESTAMP_LTZ: 6}


@dataclass(frozen=True)
class DatabaseDescriptor:
    """What can be said of a database."""

    comment: str | None = None
    custom_properties: Mapping[str, str] = field(default_factory=dict)


def type_to_json(type_: DataType) -> dict[str, Any]:
    """A type as a JSON object."""
    out: dict[str, Any] = {"type": type_.root.value}
    if not type_.nullable:
        out["nullable"] = False
    match type_.root:
        case TypeRoot.CHAR | TypeRoot.BINARY:
            out["length"] = type_.length
        case TypeRoot.DECIMAL:
            out["precision"], out["scale"] = type_.precision, type_.scale
        case TypeRoot.TIME | TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            out["precision"] = type_.precision
        case TypeRoot.ARRAY:
            assert type_.element is not None
            out["element_type"] = type_to_json(type_.element)
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            out["key_type"], out["value_type"] = type_to_json(type_.key), type_to_json(type_.value)
        case TypeRoot.ROW:
            out["fields"] = [_row_field_to_json(f) for f in type_.fields]
        case _:
            pass
    return out


def _row_field_to_json(f: RowField) -> dict[str, Any]:
    out: dict[str, Any] = {"name": f.name, "field_type": type_to_json(f.type)}
    if f.description is not None:
        out["description"] = f.description
    out["field_id"] = f.id
    return out


def type_of_json(node: Any, depth: int = 0) -> DataType:
    """A type from its JSON object."""
    if depth > TYPE_DEPTH_MAX:
        raise ValueError(f"types are nested deeper than {TYPE_DEPTH_MAX}")
    root = TypeRoot(node["type"])
    out = DataType(root, nullable=_flag(node.get("nullable", True), "nullable"))
    match root:
        case TypeRoot.CHAR | TypeRoot.BINARY:
            return replace(out, length=_int_within(node["length"], 1, _INT32_MAX, "length"))
        case TypeRoot.DECIMAL:
            precision = _int_within(node["precision"], 1, 38, "precision")
            return replace(out, precision=precision, scale=_int_within(node["scale"], 0, precision, "scale"))
        case TypeRoot.TIME | TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return replace(
                out, precision=_int_within(node.get("precision", _DEFAULT_PRECISION[root]), 0, 9, "precision")
            )
        case TypeRoot.ARRAY:
            return replace(out, element=type_of_json(node["element_type"], depth + 1))
        case TypeRoot.MAP:
            key = type_of_json(node["key_type"], depth + 1).not_null()
            return replace(out, key=key, value=type_of_json(node["value_type"], depth + 1))
        case TypeRoot.ROW:
            return replace(out, fields=tuple(_row_field_of_json(f, depth + 1) for f in node["fields"]))
        case _:
            return out


def _row_field_of_json(node: Any, depth: int) -> RowField:
    return RowField(
        _text(node["name"], "the name of a field"),
        type_of_json(node["field_type"], depth),
        _optional_text(node.get("description"), "description"),
        _int_within(node.get("field_id", -1), -1, _INT32_MAX, "field_id"),
    )


def _int_within(value: Any, low: int, high: int, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ValueError(f"{what} must be between {low} and {high}, not {value!r}")
    return value


def _flag(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{what} must be true or false, not {value!r}")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(f"{what} must be a text, not {value!r}")
    return value


def _optional_text(value: Any, what: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{what} must be a text, not {value!r}")
    return value


def _texts(node: Any, what: str) -> tuple[str, ...]:
    if node is None:
        return ()
    if not isinstance(node, list):
        raise ValueError(f"{what} must be a list, not {node!r}")
    return tuple(_text(item, f"an item of {what}") for item in node)


def schema_to_json(schema: Schema) -> dict[str, Any]:
    """A schema as a JSON object."""
    out: dict[str, Any] = {"version": _VERSION, "columns": [_column_to_json(c) for c in schema.columns]}
    if schema.primary_key:
        out["primary_key"] = list(schema.primary_key)
    if schema.auto_increment:
        out["auto_increment_column"] = list(schema.auto_increment)
    out["highest_field_id"] = schema.highest_field_id
    return out


def _column_to_json(column: Column) -> dict[str, Any]:
    out: dict[str, Any] = {"name": column.name, "data_type": type_to_json(column.type)}
    if column.comment is not None:
        out["comment"] = column.comment
    if column.aggregate is not None:
        out["agg_function"] = {"type": column.aggregate.function}
        if column.aggregate.parameters:
            out["agg_function"]["parameters"] = dict(column.aggregate.parameters)
    out["id"] = column.id
    return out


def schema_of_json(node: Any) -> Schema:
    """A schema from its JSON object."""
    columns = [
        Column(
            name=_text(c["name"], "the name of a column"),
            type=type_of_json(c["data_type"]),
            id=_int_within(c.get("id", -1), -1, _INT32_MAX, "the id of a column"),
            comment=_optional_text(c.get("comment"), "comment"),
            aggregate=_aggregate_of_json(c.get("agg_function")),
        )
        for c in node["columns"]
    ]
    if len({c.id >= 0 for c in columns}) > 1:
        raise ValueError("either all columns carry an id or none does")
    primary_key = _texts(node.get("primary_key"), "primary_key")
    schema = Schema.of(columns, primary_key, _texts(node.get("auto_increment_column"), "auto_increment_column"))
    highest = _int_within(node.get("highest_field_id", -1), -1, _INT32_MAX, "highest_field_id")
    return replace(schema, highest_field_id=max(schema.highest_field_id, highest))


def _aggregate_of_json(node: Any) -> Aggregate | None:
    if node is None:
        return None
    name = _text(node["type"], "the type of agg_function").lower().replace("-", "_")
    parameters = _string_map(node.get("parameters"), "the parameters of agg_function")
    # A function of a later release must not make the table unreadable: Apache Fluss drops it too.
    return Aggregate(name, tuple(parameters.items())) if name in AGGREGATE_FUNCTIONS else None


def descriptor_to_json(descriptor: TableDescriptor) -> dict[str, Any]:
    """A table descriptor as a JSON object, keys in the order Apache Fluss writes them."""
    out: dict[str, Any] = {"version": _VERSION, "schema": schema_to_json(descriptor.schema)}
    if descriptor.comment is not None:
        out["comment"] = descriptor.comment
    out["partition_key"] = list(descriptor.partition_keys)
    out["bucket_key"] = list(descriptor.bucket_keys)
    if descriptor.bucket_count is not None:
        out["bucket_count"] = descriptor.bucket_count
    out["properties"] = dict(descriptor.properties)
    out["custom_properties"] = dict(descriptor.custom_properties)
    return out


def descriptor_of_json(node: Any) -> TableDescriptor:
    """A table descriptor from its JSON object, bucket key filled in and checked."""
    bucket_count = node.get("bucket_count")
    descriptor = TableDescriptor(
        schema=schema_of_json(node["schema"]),
        partition_keys=_texts(node.get("partition_key"), "partition_key"),
        bucket_keys=_texts(node.get("bucket_key"), "bucket_key"),
        bucket_count=None if bucket_count is None else _int_within(bucket_count, 1, _INT32_MAX, "bucket_count"),
        properties=_string_map(node.get("properties"), "properties"),
        custom_properties=_string_map(node.get("custom_properties"), "custom_properties"),
        comment=_optional_text(node.get("comment"), "comment"),
    )
    return descriptor.normalize()


def _string_map(node: Any, what: str) -> dict[str, str]:
    if node is None:
        return {}
    if not isinstance(node, dict):
        raise ValueError(f"{what} must be an object, not {node!r}")
    return {key: _scalar_text(value, f"'{key}' of {what}") for key, value in node.items()}


def _scalar_text(value: Any, what: str) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case _:
            raise ValueError(f"{what} must be a text, not {value!r}")


def dump(node: Any) -> bytes:
    """JSON as UTF-8 bytes without spaces."""
    return json.dumps(node, separators=(",", ":"), ensure_ascii=False).encode()


def _load(body: bytes) -> Any:
    text = bytes(body).decode()
    node = json.loads(text)
    if "\\u" in text:
        dump(node)  # half of a surrogate pair could never be sent back
    return node


def _short(wrong: Exception) -> str:
    """What is wrong, as a sentence for people; only what we did not foresee is told by its kind."""
    if isinstance(wrong, KeyError):
        return f"{wrong!s:.200} is missing."
    return f"{wrong!s:.200}".rstrip(".") + "." if isinstance(wrong, ValueError) else f"{wrong!r:.200}."


def parse_descriptor(body: bytes) -> TableDescriptor:
    """A table descriptor from the wire; anything wrong with it is INVALID_TABLE."""
    try:
        return descriptor_of_json(_load(body))
    except LakewardError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        raise ErrorCode.INVALID_TABLE.error(f"The table descriptor cannot be read: {_short(wrong)}") from wrong


def parse_schema(body: bytes) -> Schema:
    """A schema from the wire or the store; anything wrong with it is INVALID_TABLE."""
    try:
        return schema_of_json(_load(body))
    except LakewardError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        raise ErrorCode.INVALID_TABLE.error(f"The schema cannot be read: {_short(wrong)}") from wrong


def parse_type(body: bytes) -> DataType:
    """A data type from the wire; anything wrong with it is INVALID_TABLE."""
    try:
        return type_of_json(_load(body))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as wrong:
        raise ErrorCode.INVALID_TABLE.error(f"The data type cannot be read: {_short(wrong)}") from wrong


def database_to_json(descriptor: DatabaseDescriptor) -> dict[str, Any]:
    """A database descriptor as a JSON object."""
    out: dict[str, Any] = {"version": _VERSION}
    if descriptor.comment is not None:
        out["comment"] = descriptor.comment
    out["custom_properties"] = dict(descriptor.custom_properties)
    return out


def parse_database(body: bytes | None) -> DatabaseDescriptor:
    """A database descriptor from the wire; anything wrong with it is INVALID_DATABASE."""
    if not body:
        return DatabaseDescriptor()
    try:
        node = _load(body)
        return DatabaseDescriptor(
            _optional_text(node.get("comment"), "comment"),
            _string_map(node.get("custom_properties"), "custom_properties"),
        )
    except (ValueError, TypeError, AttributeError, RecursionError) as wrong:
        raise ErrorCode.INVALID_DATABASE.error(f"The database descriptor cannot be read: {_short(wrong)}") from wrong
