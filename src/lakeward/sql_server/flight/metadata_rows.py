"""What Flight SQL clients ask about the server and its tables, as rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.query.duckdb.duck_types import duck_schema
from lakeward.query.read.read import result_schema
from lakeward.query.request.request import ReadRequest
from lakeward.sql_server.flight.protobuf import fields_of, numbers_of, text_of
from lakeward.sql_server.flight.sql_info import sql_info
from lakeward.sql_server.work.listing import list_tables, matches

CATALOG = "lakeward"
_TABLES = pa.schema(
    [
        ("catalog_name", pa.string()),
        ("db_schema_name", pa.string()),
        pa.field("table_name", pa.string(), nullable=False),
        pa.field("table_type", pa.string(), nullable=False),
    ]
)
_KEYS = pa.schema(
    [
        ("catalog_name", pa.string()),
        ("db_schema_name", pa.string()),
        pa.field("table_name", pa.string(), nullable=False),
        pa.field("column_name", pa.string(), nullable=False),
        pa.field("key_sequence", pa.int32(), nullable=False),
        ("key_name", pa.string()),
    ]
)
_FOREIGN = pa.schema(
    [(f"{side}_{name}", pa.string()) for side in ("pk", "fk") for name in ("catalog_name", "db_schema_name")]
    + [("pk_table_name", pa.string()), ("pk_column_name", pa.string()), ("fk_table_name", pa.string())]
    + [("fk_column_name", pa.string()), ("key_sequence", pa.int32()), ("fk_key_name", pa.string())]
    + [("pk_key_name", pa.string()), ("update_rule", pa.uint8()), ("delete_rule", pa.uint8())]
)
_TYPE_INFO = pa.schema(
    [
        pa.field("type_name", pa.string(), nullable=False),
        pa.field("data_type", pa.int32(), nullable=False),
        ("column_size", pa.int32()),
        ("literal_prefix", pa.string()),
        ("literal_suffix", pa.string()),
        ("create_params", pa.list_(pa.field("item", pa.string(), nullable=False))),
        pa.field("nullable", pa.int32(), nullable=False),
        pa.field("case_sensitive", pa.bool_(), nullable=False),
        pa.field("searchable", pa.int32(), nullable=False),
        ("unsigned_attribute", pa.bool_()),
        pa.field("fixed_prec_scale", pa.bool_(), nullable=False),
        ("auto_increment", pa.bool_()),
        ("local_type_name", pa.string()),
        ("minimum_scale", pa.int32()),
        ("maximum_scale", pa.int32()),
        pa.field("sql_data_type", pa.int32(), nullable=False),
        ("datetime_subcode", pa.int32()),
        ("num_prec_radix", pa.int32()),
        ("interval_precision", pa.int32()),
    ]
)
#: Names and numbers of types, as XDBC has them, and how many digits they hold.
_TYPES = (
    ("BOOLEAN", -7, 1), ("TINYINT", -6, 3), ("SMALLINT", 5, 5), ("INTEGER", 4, 10), ("BIGINT", -5, 19),
    ("FLOAT", 6, 24), ("DOUBLE", 8, 53), ("DECIMAL", 3, 38), ("VARCHAR", 12, None), ("BLOB", -4, None),
    ("DATE", 91, 10), ("TIME", 92, 15), ("TIMESTAMP", 93, 26), ("TIMESTAMP WITH TIME ZONE", 2014, 32),
)  # fmt: skip


def metadata_rows(conn: Connection, name: str, body: bytes) -> pa.Table | None:
    """The answer to a command about metadata; None if it is no such command."""
    fields = fields_of(body)
    match name:
        case "CommandGetCatalogs":
            return _names("catalog_name", CATALOG)
        case "CommandGetDbSchemas":
            return _schemas(conn, text_of(fields, 1), text_of(fields, 2))
        case "CommandGetTables":
            return _tables(conn, fields)
        case "CommandGetTableTypes":
            return _names("table_type", "TABLE")
        case "CommandGetPrimaryKeys":
            return _primary_keys(conn, text_of(fields, 2), text_of(fields, 3) or "")
        case "CommandGetExportedKeys" | "CommandGetImportedKeys" | "CommandGetCrossReference":
            return _FOREIGN.empty_table()
        case "CommandGetXdbcTypeInfo":
            return _type_info(numbers_of(fields, 1))
        case "CommandGetSqlInfo":
            return sql_info(numbers_of(fields, 1))
        case _:
            return None


def _names(column: str, name: str) -> pa.Table:
    return pa.table({column: [name]}, pa.schema([pa.field(column, pa.string(), nullable=False)]))


def _schemas(conn: Connection, catalog: str | None, pattern: str | None) -> pa.Table:
    names = [name for name in conn.databases() if matches(pattern, name) and catalog in {None, "", CATALOG}]
    schema = pa.schema([("catalog_name", pa.string()), pa.field("db_schema_name", pa.string(), nullable=False)])
    return pa.table({"catalog_name": [CATALOG] * len(names), "db_schema_name": names}, schema)


def _tables(conn: Connection, fields: dict[int, list[int | bytes]]) -> pa.Table:
    catalog, of_schema, of_table = (text_of(fields, number) for number in (1, 2, 3))
    kinds = [one for one in fields.get(4, ()) if isinstance(one, bytes)]
    found = list_tables(
        conn, lambda database, table: matches(of_schema, database) and matches(of_table, table), of_schema
    )
    if (kinds and b"TABLE" not in kinds) or catalog not in {None, "", CATALOG}:
        found = []
    columns: dict[str, Sequence[object]] = {
        "catalog_name": [CATALOG] * len(found),
        "db_schema_name": [info.path.database for info in found],
        "table_name": [info.path.table for info in found],
        "table_type": ["TABLE"] * len(found),
    }
    schema = _TABLES
    if fields.get(5, [0])[-1]:
        schema = schema.append(pa.field("table_schema", pa.binary(), nullable=False))
        shapes = [duck_schema(result_schema(i.schema, ReadRequest.of_name(str(i.path)))) for i in found]
        columns["table_schema"] = [shape.serialize().to_pybytes() for shape in shapes]
    return pa.table(columns, schema)


def _primary_keys(conn: Connection, database: str | None, table: str) -> pa.Table:
    found = list_tables(conn, lambda db, name: (not database or db == database) and name == table, database)
    rows = [
        {
            "catalog_name": CATALOG,
            "db_schema_name": info.path.database,
            "table_name": info.path.table,
            "column_name": column,
            "key_sequence": at,
            "key_name": f"{info.path.table}_pkey",
        }
        for info in found
        for at, column in enumerate(info.schema.primary_key, 1)
    ]
    return pa.Table.from_pylist(rows, _KEYS)


def _type_info(wanted: list[int]) -> pa.Table:
    rows = [
        {
            "type_name": name,
            "data_type": number,
            "column_size": size,
            "nullable": 1,
            "case_sensitive": name == "VARCHAR",
            "searchable": 3,
            "unsigned_attribute": False,
            "fixed_prec_scale": False,
            "auto_increment": False,
            "local_type_name": name,
            "sql_data_type": number,
        }
        for name, number, size in sorted(_TYPES, key=lambda one: one[1])
        if not wanted or number & 0xFFFFFFFF in {one & 0xFFFFFFFF for one in wanted}
    ]
    return pa.Table.from_pylist(rows, _TYPE_INFO)
