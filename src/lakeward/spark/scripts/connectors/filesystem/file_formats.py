"""Formats of files: what Spark calls them, and how it is told of their options."""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.language.statements.statement import Options
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.model.data_types import TypeRoot
from lakeward.spark.scripts.connectors.filesystem import filesystem_options as rows

#: The column that Spark puts a line into that it cannot read.
CORRUPT = "_corrupt_line"
_NO_QUOTE = "\x00"
#: A field that no file has: with it as NULL, Spark tells a text without characters, "", from nothing at all.
_NOTHING = "\x00"
_TIMES = {TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ}
_FORMATS = {"raw": "text"}


def spark_format(table: TableDefinition) -> str:
    """What Spark calls the table's format; a table that names none, or does not fit it, is refused."""
    given = rows.FORMAT.read(table.options)
    if given is None:
        raise _missing_option(table, rows.FORMAT.key, "csv")
    found = _FORMATS.get(given, given)
    stored = [column for column in table.physical if column.name not in table.partitioned_by]
    if found == "text" and (len(stored) != 1 or stored[0].type.root not in {TypeRoot.STRING, TypeRoot.BYTES}):
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {table}: the format '{given}' has one column, STRING or BYTES, beside the partitions."
        )
    return found


def directory_of(table: TableDefinition) -> str:
    """The table's directory, as Hadoop names it."""
    path = rows.PATH.read(table.options)
    if not path:
        raise _missing_option(table, rows.PATH.key, "/data/orders")
    return f"s3a://{path.removeprefix('s3://')}" if path.startswith("s3://") else path


def ignores_errors(table: TableDefinition) -> bool:
    """Whether what cannot be read is left out."""
    options = table.options
    return {"csv": rows.CSV_IGNORE.read(options), "json": rows.JSON_IGNORE.read(options)}.get(
        spark_format(table), False
    )


def read_options(table: TableDefinition) -> dict[str, str]:
    """How Spark reads the files; what is malformed is an error, also in columns that nobody asks for."""
    kind = spark_format(table)
    found = {**_format_options(kind, table.options)}
    if kind == "csv":
        splits = rows.CSV_SPLIT.read(table.options)
        found = {"nullValue": _NOTHING, "multiLine": str(not splits).lower(), **found}
    if kind in {"csv", "json"}:
        found |= {"mode": "FAILFAST", "timeZone": "UTC", "columnPruning": "false"}
        if ignores_errors(table):
            found |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT}
    return found


def write_options(table: TableDefinition) -> dict[str, str]:
    """How Spark writes the files."""
    kind = spark_format(table)
    found = {**_format_options(kind, table.options)}
    if kind == "csv":
        found |= {"ignoreLeadingWhiteSpace": "false", "ignoreTrailingWhiteSpace": "false"}
    if kind in {"csv", "json"}:
        digits = max((column.type.precision or 0 for column in table.physical if column.type.root in _TIMES), default=3)
        is_iso = kind == "json" and rows.JSON_TIMESTAMPS.read(table.options) == "ISO-8601"
        fraction = f".{'S' * min(digits, 6)}" if digits else ""
        pattern = f"yyyy-MM-dd{repr('T') if is_iso else ' '}HH:mm:ss{fraction}"
        found |= {"timestampNTZFormat": pattern, "timestampFormat": f"{pattern}'Z'", "timeZone": "UTC"}
        found |= {"ignoreNullFields": "false"} if kind == "json" else {}
    return found


def _format_options(kind: str, options: Options) -> dict[str, str]:
    if kind == "csv":
        quote = _NO_QUOTE if rows.CSV_NO_QUOTE.read(options) else rows.CSV_QUOTE.read(options)
        found = {"sep": rows.CSV_DELIMITER.read(options), "quote": quote}
        found |= {
            "escape": rows.CSV_ESCAPE.read(options) or quote,
            "header": str(rows.CSV_HEADER.read(options)).lower(),
        }
        null = rows.CSV_NULL.read(options)
        found |= {} if null is None else {"nullValue": null}
        return found | ({"comment": "#"} if rows.CSV_COMMENTS.read(options) else {})
    head = f"{kind}."
    return {key.removeprefix(head): value for key, value in options.items() if key.startswith(head) and kind != "json"}


def _missing_option(table: TableDefinition, key: str, example: str) -> LakewardError:
    return ErrorCode.INVALID_TABLE.error(
        f"Table {table}: the connector 'filesystem' needs the option '{key}', for example '{example}'."
    )
