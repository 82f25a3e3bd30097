"""TABLE_MAPs against what is known of a table: whether they agree, and what a TABLE_MAP alone tells."""

from __future__ import annotations

from dataclasses import replace

from lakeward.capture.mysql.binlog import table_map as wire
from lakeward.capture.mysql.binlog.table_map import TableMap, WireColumn
from lakeward.capture.mysql.cells.charsets import Charsets
from lakeward.capture.mysql.cells.native_type import ADDRESSES, BLOBS, GEOMETRIES, parse_native_type
from lakeward.capture.mysql.schema.tables import NativeColumn, NativeTable, quote

_BINARY_COLLATION = 63
_TEXT_OF_BYTES = {1: "tinytext", 2: "text", 3: "mediumtext", 4: "longtext"}
_BLOB_OF_BYTES = {1: "tinyblob", 2: "blob", 3: "mediumblob", 4: "longblob"}
_INTEGERS = {wire.TINY: "tinyint", wire.SHORT: "smallint", wire.INT24: "mediumint", wire.LONG: "int"}
_INTEGERS |= {wire.LONGLONG: "bigint"}
_TIMES = {wire.TIMESTAMP2: "timestamp", wire.DATETIME2: "datetime", wire.TIME2: "time"}
_PLAIN = {wire.FLOAT: "float", wire.DOUBLE: "double", wire.DATE: "date", 14: "date", wire.YEAR: "year"}
_TEXTS = set(_TEXT_OF_BYTES.values()) | {"json"}


def agrees(table: NativeTable, map_: TableMap) -> bool:
    """Whether rows of that map are rows of that table."""
    return len(table.columns) == len(map_.columns) and all(
        _column_agrees(column, on_wire) for column, on_wire in zip(table.columns, map_.columns, strict=True)
    )


def _column_agrees(column: NativeColumn, on_wire: WireColumn) -> bool:
    native = parse_native_type(column.native)
    if on_wire.name is not None and on_wire.name != column.name:
        return False
    match on_wire.kind:
        case kind if kind in _INTEGERS:
            signs_agree = on_wire.name is None or on_wire.is_unsigned == native.is_unsigned
            return native.name == _INTEGERS[kind] and signs_agree
        case kind if kind in _PLAIN:
            return native.name == _PLAIN[kind]
        case kind if kind in _TIMES:
            return native.name == _TIMES[kind] and native.precision == on_wire.a
        case wire.DECIMAL:
            return native.name == "decimal" and (native.precision, native.scale) == (on_wire.a, on_wire.b)
        case wire.BIT:
            return native.name == "bit" and native.length == on_wire.b * 8 + on_wire.a
        case wire.ENUM | wire.SET:
            name = "enum" if on_wire.kind == wire.ENUM else "set"
            return native.name == name and (not on_wire.values or len(on_wire.values) == len(native.values))
        case wire.VARCHAR | wire.VAR_STRING | wire.VARCHAR_PACKED:
            return native.name in {"varchar", "varbinary"}
        case wire.STRING:
            return native.name in {"char", "binary", *ADDRESSES}
        case wire.JSON:
            return native.name == "json"
        case wire.GEOMETRY:
            return native.name in GEOMETRIES
        case _:
            return native.name in BLOBS or native.name in _TEXTS or native.name in GEOMETRIES


def with_wire_texts(table: NativeTable, map_: TableMap, charsets: Charsets) -> NativeTable:
    """The table, with the character sets that the map tells."""
    columns = []
    for column, on_wire in zip(table.columns, map_.columns, strict=True):
        native = parse_native_type(column.native)
        if on_wire.collation is not None and native.data_type().root.name == "STRING" and native.name not in ADDRESSES:
            told = charsets.collation(on_wire.collation)
            if told != native.collation and on_wire.collation != _BINARY_COLLATION:
                plain = column.native.split(" collate ")[0]
                column = replace(column, native=f"{plain} collate {told}")
        columns.append(column)
    return replace(table, columns=tuple(columns))


def table_of_map(map_: TableMap, charsets: Charsets) -> NativeTable:
    """What a map with full metadata says of its table."""
    columns = tuple(
        NativeColumn(column.name or "", _native_text(column, charsets), column.nullable) for column in map_.columns
    )
    return NativeTable(map_.id, columns, tuple(columns[index].name for index in map_.key))


def _native_text(column: WireColumn, charsets: Charsets) -> str:
    is_text = column.collation not in {None, _BINARY_COLLATION}
    collation = charsets.collation(column.collation) if is_text and column.collation is not None else ""
    collate = f" collate {collation}" if is_text else ""
    unsigned = " unsigned" if column.is_unsigned else ""
    packed = " compressed" if column.kind in {wire.BLOB_PACKED, wire.VARCHAR_PACKED} else ""
    match column.kind:
        case kind if kind in _INTEGERS:
            return _INTEGERS[kind] + unsigned
        case kind if kind in _PLAIN:
            return _PLAIN[kind] + unsigned
        case kind if kind in _TIMES:
            return f"{_TIMES[kind]}({column.a})"
        case wire.DECIMAL:
            return f"decimal({column.a},{column.b}){unsigned}"
        case wire.BIT:
            return f"bit({column.b * 8 + column.a})"
        case wire.ENUM | wire.SET:
            charset = collation.split("_")[0] or "utf8mb4"
            words = ",".join(quote(charsets.text(word, charset)) for word in column.values)
            return f"{'enum' if column.kind == wire.ENUM else 'set'}({words}){collate}"
        case wire.VARCHAR | wire.VAR_STRING | wire.VARCHAR_PACKED:
            return f"{'varchar' if is_text else 'varbinary'}({column.a}){packed}{collate}"
        case wire.STRING:
            return f"{'char' if is_text else 'binary'}({column.a}){collate}"
        case wire.JSON:
            return "json"
        case wire.GEOMETRY:
            return "geometry"
        case _:
            size = column.a or 2
            return (_TEXT_OF_BYTES if is_text else _BLOB_OF_BYTES)[size] + packed + collate
