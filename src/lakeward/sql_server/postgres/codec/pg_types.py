"""Types as Postgres numbers them, for columns of Arrow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import types as arrow

from lakeward.sql_server.postgres.codec.messages import Column

BOOL, BYTEA, INT8, INT2, INT4, TEXT, OID = 16, 17, 20, 21, 23, 25, 26
INT2VECTOR, REGPROC = 22, 24
JSON, FLOAT4, FLOAT8, UNKNOWN, BPCHAR, VARCHAR, NAME = 114, 700, 701, 705, 1042, 1043, 19
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, NUMERIC, UUID = 1082, 1083, 1114, 1184, 1186, 1700, 2950


@dataclass(frozen=True, slots=True)
class PgType:
    """A type's number, size (-1 if it varies), name in SQL, name in pg_type, and the number of its arrays."""

    oid: int
    size: int
    sql: str
    name: str
    array: int


TYPES = {
    one.oid: one
    for one in (
        PgType(BOOL, 1, "boolean", "bool", 1000),
        PgType(BYTEA, -1, "bytea", "bytea", 1001),
        PgType(NAME, 64, "name", "name", 1003),
        PgType(INT8, 8, "bigint", "int8", 1016),
        PgType(INT2, 2, "smallint", "int2", 1005),
        PgType(INT4, 4, "integer", "int4", 1007),
        PgType(TEXT, -1, "text", "text", 1009),
        PgType(OID, 4, "oid", "oid", 1028),
        PgType(JSON, -1, "json", "json", 199),
        PgType(FLOAT4, 4, "real", "float4", 1021),
        PgType(FLOAT8, 8, "double precision", "float8", 1022),
        PgType(BPCHAR, -1, "character", "bpchar", 1014),
        PgType(VARCHAR, -1, "character varying", "varchar", 1015),
        PgType(DATE, 4, "date", "date", 1182),
        PgType(TIME, 8, "time without time zone", "time", 1183),
        PgType(TIMESTAMP, 8, "timestamp without time zone", "timestamp", 1115),
        PgType(TIMESTAMPTZ, 8, "timestamp with time zone", "timestamptz", 1185),
        PgType(INTERVAL, 16, "interval", "interval", 1187),
        PgType(NUMERIC, -1, "numeric", "numeric", 1231),
        PgType(UUID, 16, "uuid", "uuid", 2951),
    )
}
#: The functions that read values in binary, by numbers: drivers know types by the names of these.
_SPACED = {NUMERIC, DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, UUID, JSON}
_ARRAY_RECEIVER = 2400
RECEIVERS = {_ARRAY_RECEIVER + oid: f"{one.name}{'_' * (oid in _SPACED)}recv" for oid, one in TYPES.items()}
RECEIVERS[_ARRAY_RECEIVER] = "array_recv"


def receiver_of(oid: int) -> int:
    """The function that reads values of a type in binary."""
    return _ARRAY_RECEIVER if oid in ARRAYS else _ARRAY_RECEIVER + oid


ARRAYS = {one.array: one for one in TYPES.values()}

#: What a field's metadata calls the type that it is described as, where its own does not say.
SHOWN_AS = b"postgres.oid"
_CALL = re.compile(r'(?:main\.|pgc\.)?"?([a-z_]\w*)"?\(.*\)', re.DOTALL)
_CALLED = {"count_star": "count", "list_value": "array", "struct_pack": "row", "regclass_oid": "regclass"}
_BY_ARROW = {
    pa.bool_(): BOOL,
    pa.int8(): INT2,
    pa.int16(): INT2,
    pa.int32(): INT4,
    pa.int64(): INT8,
    pa.uint8(): INT2,
    pa.uint16(): INT4,
    pa.uint32(): OID,
    pa.uint64(): NUMERIC,
    pa.float32(): FLOAT4,
    pa.float64(): FLOAT8,
    pa.date32(): DATE,
    pa.month_day_nano_interval(): INTERVAL,
}


def oid_of(kind: pa.DataType) -> int:
    """The number of the type that values of an Arrow type have."""
    if isinstance(kind, pa.BaseExtensionType):
        return UUID if kind.extension_name == "arrow.uuid" else oid_of(kind.storage_type)
    if arrow.is_dictionary(kind):
        return oid_of(kind.value_type)
    if kind in _BY_ARROW:
        return _BY_ARROW[kind]
    for is_kind, oid in _TESTS:
        if is_kind(kind):
            return oid
    if _is_list(kind):
        inner = TYPES.get(oid_of(kind.value_type))
        # Lists of lists have one type in Postgres; of rows and maps, none that every client knows.
        return inner.array if inner is not None and inner.oid != JSON else JSON
    if arrow.is_nested(kind):
        return JSON
    return TEXT


def modifier_of(kind: pa.DataType) -> int:
    """The digits of a decimal, as Postgres packs them; -1 for all else."""
    if arrow.is_decimal(kind) and kind.scale >= 0:
        return ((int(kind.precision) << 16) | int(kind.scale)) + 4
    return -1


def plain_names(names: Sequence[str], sql: str) -> list[str]:
    """The names of an answer's columns, as Postgres would have them: a function by its name alone.

    Who asks for such a name by AS gets it.
    """
    calls = ((name, _CALL.fullmatch(name)) for name in names)
    return [name if call is None or f'"{name}"' in sql else _CALLED.get(call[1], call[1]) for name, call in calls]


def columns_of(schema: pa.Schema) -> list[Column]:
    """How the columns of rows are described."""
    found = []
    for field in schema:
        oid = int((field.metadata or {}).get(SHOWN_AS, oid_of(field.type)))
        size = TYPES[oid].size if oid in TYPES else -1
        found.append(Column(field.name, oid, size, modifier_of(field.type)))
    return found


def _is_list(kind: pa.DataType) -> bool:
    return bool(arrow.is_list(kind) or arrow.is_large_list(kind) or arrow.is_fixed_size_list(kind))


_TESTS = (
    (lambda kind: arrow.is_timestamp(kind) and kind.tz is None, TIMESTAMP),
    (arrow.is_timestamp, TIMESTAMPTZ),
    (arrow.is_time, TIME),
    (arrow.is_decimal, NUMERIC),
    (lambda kind: arrow.is_binary(kind) or arrow.is_large_binary(kind) or arrow.is_fixed_size_binary(kind), BYTEA),
)
