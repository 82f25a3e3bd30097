"""Calls of the catalog: databases, tables and partitions, in Spark's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lakeward.errors import ErrorCode, NotFoundError
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.query.request.views import View, check_view, parse_name, view_name, view_schema
from lakeward.spark.catalog.replacing import check_replaceable, create, leftover
from lakeward.spark.socket.call import Call
from lakeward.spark.table.property_names import BUCKET_COUNT, BUCKET_KEY, PRIMARY_KEY, check_names
from lakeward.spark.table.types import schema_of_spark, spark_schema

_FIXED = {PRIMARY_KEY, BUCKET_COUNT, BUCKET_KEY}
#: What Spark itself puts among the properties.
_COMMENT, _PROVIDER = "comment", "provider"
_SPARKS_OWN = {_COMMENT, _PROVIDER, "owner", "location", "external", "is_managed_location", "table_type"}
_OPTION_PREFIX = "option."


# -- databases --------------------------------------------------------------------------------------------------------


def databases(call: Call) -> list[str]:
    """The names of all databases."""
    return call.conn.databases()


def database(call: Call) -> dict[str, str]:
    """The properties of a database."""
    found = call.conn.database(call["database"])
    return {**found.properties, **({_COMMENT: found.comment} if found.comment else {})}


def create_database(call: Call) -> None:
    """Create a database."""
    given: dict[str, str] = call["properties"]
    own = {key: value for key, value in given.items() if key not in _SPARKS_OWN}
    call.conn.create_database(call["database"], comment=given.get(_COMMENT), properties=own)


def drop_database(call: Call) -> bool:
    """Drop a database, with its tables if that is asked for."""
    call.conn.drop_database(call["database"], cascade=call["cascade"])
    return True


# -- tables -----------------------------------------------------------------------------------------------------------


def tables(call: Call) -> list[str]:
    """The names of the tables of a database."""
    return call.conn.tables(call["database"])


def table(call: Call) -> dict[str, Any]:
    """What Spark needs to know of a table or of one of its views."""
    path, view = parse_name(call["table"])
    try:
        info = call.conn.table(str(path)).info
    except NotFoundError as missing:
        if missing.code is ErrorCode.TABLE_NOT_EXIST and (beside := leftover(call.conn, path)) is not None:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {path} is being replaced, or its replacement was interrupted. Its new rows are in {beside}; if"
                f" nobody is at work any more, ALTER TABLE {beside} RENAME TO {path} brings it back."
            ) from None
        raise
    return describe_table(info, view)


def create_table(call: Call) -> dict[str, Any]:
    """Create a table; keys and buckets are properties."""
    path = own_path(call)
    return describe_table(create(call.conn, path, asked_table(call, path)), View.ROWS)


def asked_table(call: Call, path: TablePath) -> TableDescriptor:
    """What CREATE TABLE says."""
    given: dict[str, str] = call["properties"]
    provider = given.get(_PROVIDER, "fluss")
    if provider.lower() not in ("fluss", call.get("default_provider")):
        raise ErrorCode.INVALID_TABLE.error(f"Table {path} cannot be made USING {provider}; leave USING out.")
    own = {k: v for k, v in given.items() if k not in _SPARKS_OWN | _FIXED and not k.startswith(_OPTION_PREFIX)}
    check_names(own, path)
    key = _primary_key(call, path)
    return TableDescriptor(
        schema_of_spark(call["schema"], key),
        tuple(call["partitioned_by"]),
        _names(given.get(BUCKET_KEY)),
        _bucket_count(given.get(BUCKET_COUNT)),
        {k: v for k, v in own.items() if k.startswith("table.")},
        {k: v for k, v in own.items() if not k.startswith("table.")},
        given.get(_COMMENT),
    )


def _primary_key(call: Call, path: TablePath) -> tuple[str, ...]:
    """As a constraint or as a property says it."""
    by_property, by_constraint = _names(call["properties"].get(PRIMARY_KEY)), tuple(call.get("primary_key") or ())
    if by_property and by_constraint and by_property != by_constraint:
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {path} has two primary keys: ({', '.join(by_constraint)}) by its constraint and"
            f" ({', '.join(by_property)}) by the property '{PRIMARY_KEY}'; leave one of them out."
        )
    return by_constraint or by_property


def alter_table(call: Call) -> dict[str, Any]:
    """Set and reset properties, add columns."""
    path = own_path(call)
    for name in (*call["set"], *call["reset"]):
        if name in _FIXED | _SPARKS_OWN:
            raise ErrorCode.INVALID_TABLE.error(f"The {name} of table {path} cannot be changed after its creation.")
    added = schema_of_spark(call["add_columns"]).columns if call["add_columns"]["fields"] else ()
    if call["set"] or call["reset"]:
        call.conn.alter_table(str(path), set=call["set"], reset=call["reset"])
    if added:
        call.conn.alter_table(str(path), add_columns=added)
    return describe_table(call.conn.table(str(path)).info, View.ROWS)


def drop_table(call: Call) -> bool:
    """Drop a table; false when there is none."""
    try:
        call.conn.drop_table(str(own_path(call)))
    except NotFoundError:
        return False
    return True


def describe_table(info: TableInfo, view: View) -> dict[str, Any]:
    """A table, or one of its views, as the JVM wants to know it."""
    check_view(info, view)
    is_table = view is View.ROWS
    descriptor = info.descriptor
    return {
        "name": view_name(info.path, view),
        "schema": spark_schema(view_schema(info.schema, view), raw_char=True),
        "partitioned_by": list(descriptor.partition_keys) if is_table else [],
        "primary_key": list(info.schema.primary_key) if is_table else [],
        "properties": _properties(info) if is_table else {},
        "writable": is_table,
    }


def _properties(info: TableInfo) -> dict[str, str]:
    descriptor = info.descriptor
    keys = {
        PRIMARY_KEY: ",".join(info.schema.primary_key),
        BUCKET_KEY: ",".join(descriptor.bucket_keys),
        BUCKET_COUNT: str(info.bucket_count),
        _COMMENT: descriptor.comment or "",
    }
    own = {**descriptor.properties, **descriptor.custom_properties, _PROVIDER: "fluss"}
    return {**{key: value for key, value in keys.items() if value}, **own}


def own_path(call: Call) -> TablePath:
    """The table a call names; refuses views."""
    path, view = parse_name(call["table"])
    if view is not View.ROWS:
        raise ErrorCode.INVALID_TABLE.error(
            f"'{path}${view}' is a view of table {path}; create, change or drop the table."
        )
    return path


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _bucket_count(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.strip().isdecimal() or int(text) == 0:
        raise ErrorCode.INVALID_TABLE.error(f"'{BUCKET_COUNT}' is '{text}'; it must be a whole number above 0.")
    return int(text)


# -- partitions -------------------------------------------------------------------------------------------------------


def partitions(call: Call) -> list[list[str]]:
    """The values of the partitions, as texts; with `spec`, of those that have these values."""
    found = call.conn.table(call["table"])
    keys = found.info.descriptor.partition_keys
    wanted: Mapping[str, str] = call["spec"]
    matching = (p.spec for p in found.partitions() if all(p.spec[k] == v for k, v in wanted.items()))
    return [[spec[key] for key in keys] for spec in matching]


def create_partition(call: Call) -> None:
    """Create a partition."""
    call.conn.table(call["table"]).create_partition(call["spec"])


def drop_partition(call: Call) -> bool:
    """Drop a partition; false when there is none."""
    try:
        call.conn.table(call["table"]).drop_partition(call["spec"])
    except NotFoundError:
        return False
    return True


def truncate_partition(call: Call) -> None:
    """Empty a partition: it is dropped and created again."""
    found = call.conn.table(call["table"])
    check_replaceable(found.info, "truncated")
    found.drop_partition(call["spec"])
    found.create_partition(call["spec"])
