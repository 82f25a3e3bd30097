"""What DELETE, UPDATE and MERGE need beside plain writes: keys of rows to delete, and keys that travel with a part."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pyarrow as pa

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.options.table import DELETE_BEHAVIOR, MERGE_ENGINE
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.table.spark_arrow import from_spark

#: The column that says of rows beside it that they are deletes.
DELETED = "_lakeward_deleted"
_DELETE = "-D"
OVERWRITE = "INSERT OVERWRITE"
_TAKE_ROWS_OUT = {"DELETE", OVERWRITE}
_LENGTH = struct.Struct(">I")


def not_by_row(info: TableInfo, command: str) -> LakewardError:
    """A log has no rows that could be found again."""
    instead = "drop a partition" if info.descriptor.is_partitioned else "CREATE OR REPLACE it"
    return ErrorCode.NON_PRIMARY_KEY_TABLE.error(
        f"{command} is for tables with a primary key, and table {info.path} is a log, to which rows are only appended;"
        f" {instead} to take rows out."
    )


def check_row_level(info: TableInfo, command: str) -> None:
    """Refuse tables of which single rows cannot be changed as SQL means it."""
    if not info.descriptor.has_primary_key:
        raise not_by_row(info, command)
    engine = MERGE_ENGINE.read(info.descriptor.properties)
    if engine is not None and command != "DELETE":
        raise ErrorCode.INVALID_TABLE.error(
            f"{command} would not do what it says on table {info.path}: its merge engine '{engine}' decides what"
            " becomes of a row that is written again. INSERT rows, or CREATE OR REPLACE the table."
        )
    if command in _TAKE_ROWS_OUT:
        _check_takes_deletes(info, command)


def _check_takes_deletes(info: TableInfo, command: str) -> None:
    """Refuse where the server would pass over the deletes without a word, or refuse them when new rows are there."""
    properties = info.descriptor.properties
    is_told = DELETE_BEHAVIOR.key in properties or MERGE_ENGINE.read(properties) is None
    behavior = DELETE_BEHAVIOR.read(properties) if is_told else "IGNORE"
    if behavior != "ALLOW":
        raise ErrorCode.INVALID_TABLE.error(
            f"{command} would leave rows in table {info.path}, which takes no deletes ({DELETE_BEHAVIOR.key}="
            f"{behavior}); CREATE OR REPLACE it to take rows out."
        )


def deleted_rows(keys: pa.RecordBatch, schema: Schema) -> pa.RecordBatch:
    """Rows that are deletes: their keys, NULL in all other columns, and the column that says so."""
    fitting = from_spark(keys, schema.select(schema.primary_key))
    arrays = [
        fitting.column(field.name) if field.name in schema.primary_key else pa.nulls(keys.num_rows, field.type)
        for field in arrow_schema(schema)
    ]
    fields = [pa.field(field.name, field.type) for field in arrow_schema(schema)]
    rows = pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
    return rows.append_column(DELETED, pa.repeat(pa.scalar(_DELETE), keys.num_rows))


def with_keys(part: bytes, keys: Sequence[pa.RecordBatch]) -> bytes:
    """A part, and the keys of its rows after it."""
    sink = pa.BufferOutputStream()
    if keys:
        with pa.ipc.new_stream(sink, keys[0].schema) as stream:
            for batch in keys:
                stream.write_batch(batch)
    return b"".join([_LENGTH.pack(len(part)), part, sink.getvalue().to_pybytes()])


def split_keys(given: Sequence[bytes]) -> tuple[list[bytes], list[pa.Table]]:
    """The parts, and the keys of their rows."""
    parts, keys = [], []
    for each in given:
        (length,) = _LENGTH.unpack_from(each)
        part, rest = each[_LENGTH.size : _LENGTH.size + length], each[_LENGTH.size + length :]
        parts.append(part)
        if rest:
            keys.append(pa.ipc.open_stream(rest).read_all())
    return parts, keys
