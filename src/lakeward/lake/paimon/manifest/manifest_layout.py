"""The Avro layout of manifests (which files came and went) and of lists of manifests, as Paimon's Java names them."""

from __future__ import annotations

from typing import Any

_RECORD = "org.apache.paimon.avro.generated.record"


def _field(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": type_}


def _maybe(name: str, type_: Any) -> dict[str, Any]:
    return {"name": name, "type": ["null", type_], "default": None}


def _record(name: str, fields: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": fields}


def _list_of(type_: Any) -> dict[str, Any]:
    return {"type": "array", "items": type_}


def _statistics(name: str) -> dict[str, Any]:
    return _record(
        name,
        [
            _field("_MIN_VALUES", "bytes"),
            _field("_MAX_VALUES", "bytes"),
            _maybe("_NULL_COUNTS", _list_of(["null", "long"])),
        ],
    )


_FILE = _record(
    f"{_RECORD}__FILE",
    [
        _field("_FILE_NAME", "string"),
        _field("_FILE_SIZE", "long"),
        _field("_ROW_COUNT", "long"),
        _field("_MIN_KEY", "bytes"),
        _field("_MAX_KEY", "bytes"),
        _field("_KEY_STATS", _statistics(f"{_RECORD}__FILE__KEY_STATS")),
        _field("_VALUE_STATS", _statistics(f"{_RECORD}__FILE__VALUE_STATS")),
        _field("_MIN_SEQUENCE_NUMBER", "long"),
        _field("_MAX_SEQUENCE_NUMBER", "long"),
        _field("_SCHEMA_ID", "long"),
        _field("_LEVEL", "int"),
        _field("_EXTRA_FILES", _list_of("string")),
        _maybe("_CREATION_TIME", {"type": "long", "logicalType": "timestamp-millis"}),
        _maybe("_DELETE_ROW_COUNT", "long"),
        _maybe("_EMBEDDED_FILE_INDEX", "bytes"),
        _maybe("_FILE_SOURCE", "int"),
        _maybe("_VALUE_STATS_COLS", _list_of("string")),
        _maybe("_EXTERNAL_PATH", "string"),
        _maybe("_FIRST_ROW_ID", "long"),
        _maybe("_WRITE_COLS", _list_of("string")),
    ],
)

MANIFEST = _record(
    _RECORD,
    [
        _field("_VERSION", "int"),
        _field("_KIND", "int"),
        _field("_PARTITION", "bytes"),
        _field("_BUCKET", "int"),
        _field("_TOTAL_BUCKETS", "int"),
        _field("_FILE", _FILE),
    ],
)

MANIFEST_LIST = _record(
    _RECORD,
    [
        _field("_VERSION", "int"),
        _field("_FILE_NAME", "string"),
        _field("_FILE_SIZE", "long"),
        _field("_NUM_ADDED_FILES", "long"),
        _field("_NUM_DELETED_FILES", "long"),
        _field("_PARTITION_STATS", _statistics(f"{_RECORD}__PARTITION_STATS")),
        _field("_SCHEMA_ID", "long"),
        _maybe("_MIN_BUCKET", "int"),
        _maybe("_MAX_BUCKET", "int"),
        _maybe("_MIN_LEVEL", "int"),
        _maybe("_MAX_LEVEL", "int"),
        _maybe("_MIN_ROW_ID", "long"),
        _maybe("_MAX_ROW_ID", "long"),
    ],
)
