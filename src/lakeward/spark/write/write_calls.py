"""Calls of writes: tasks stage rows, the driver commits what they staged."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lakeward.client.staged import CommitResult, StagedSink, StagedWriter
from lakeward.errors import ErrorCode
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.spark import SINK_STAGING_DIR
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.runtime.entropy import SystemEntropy
from lakeward.spark.catalog.catalog_calls import own_path
from lakeward.spark.catalog.replacing import check_replaceable, fill, make_beside, swap
from lakeward.spark.socket.call import Call
from lakeward.spark.table.chosen_table import columns_of
from lakeward.spark.table.spark_arrow import spark_arrow_schema
from lakeward.spark.write.overwrite import Overwrite, Way, clear_partitions, keys_there, stale_keys
from lakeward.spark.write.row_level import (
    DELETED,
    OVERWRITE,
    check_row_level,
    deleted_rows,
    not_by_row,
    split_keys,
    with_keys,
)
from lakeward.spark.write.rows_to_write import RowsToWrite, tell_of_new_columns

_BATCH_ROWS, _BATCH_BYTES = 65_536, 8 << 20
_SINK_DIRECTORY = "lakeward-sink"


@dataclass(frozen=True)
class _Columns:
    """The columns of a DataFrame as Spark's JSON."""

    form: dict[str, Any]

    def json(self) -> str:
        return json.dumps(self.form)


def _rows(call: Call) -> RowsToWrite:
    table = (call.get("sink") or {}).get("beside") or call["table"]
    _ = call.conn  # waited for, if it is away
    return RowsToWrite.of({**call.options, "table": table}, _Columns(call["schema"]))


def begin(call: Call) -> dict[str, Any]:
    """Check that the rows fit the table; where they are staged, and in which Arrow types."""
    rows = _rows(call)
    overwrite = Overwrite.of_call(rows.info, call.get("overwrite"))
    if overwrite is not None and rows.columns is not None:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"Rows of table {rows.path} cannot be overwritten by some of their columns, {', '.join(rows.columns)}; name"
            " all columns, or INSERT INTO to update those."
        )
    directory, temporary = _directory(call, rows)
    beside = None if overwrite is None else _make_room(call, overwrite)
    given = columns_of(_Columns(call["schema"]))
    if call.get("streaming"):  # then this is called for each micro-batch
        tell_of_new_columns(directory, rows, given.names)
    schema = spark_arrow_schema(given)
    keys = spark_arrow_schema(rows.info.schema.select(rows.info.schema.primary_key))
    return {
        "directory": directory,
        "temporary": temporary,
        "beside": beside,
        "keys": overwrite is not None and overwrite.way is Way.BY_KEY,
        "arrow_schema": base64.b64encode(schema.serialize()).decode(),
        "key_arrow_schema": base64.b64encode(keys.serialize()).decode(),
        "batch_rows": _BATCH_ROWS,
        "batch_bytes": _BATCH_BYTES,
    }


def _make_room(call: Call, overwrite: Overwrite) -> str | None:
    """Refuse what cannot be overwritten; the name of the table that is filled in its place, where one is."""
    overwrite.check()
    if overwrite.way is Way.BY_KEY:
        check_row_level(overwrite.info, OVERWRITE)
        return None
    check_replaceable(overwrite.info, "overwritten")
    if overwrite.way is Way.BY_PARTITION:
        return None
    return str(make_beside(call.conn, overwrite.info.path, overwrite.info.descriptor).path)


def _directory(call: Call, rows: RowsToWrite) -> tuple[str, bool]:
    given = SINK_STAGING_DIR.read(call.options)
    if not call.get("streaming"):
        if given:
            return f"{given}/{SystemEntropy().uuid().hex}", False
        return tempfile.mkdtemp(prefix="lakeward-write-"), True
    if given:
        return f"{given}/{call['query']}", False
    if not call.get("checkpoint"):
        raise ErrorCode.INVALID_CONFIG.error(
            f"A stream into table {rows.path} needs the option 'checkpointLocation' or 'sink.staging.dir', a place that"
            " outlives the driver."
        )
    return f"{call['checkpoint']}/{_SINK_DIRECTORY}", False


def write(call: Call) -> bytes:
    """Stage the rows that follow, or the keys of rows to delete; the answer is the part."""
    rows, sink = _rows(call), call["sink"]
    deletes = bool(call.get("deletes"))
    form = sink["key_arrow_schema"] if deletes else sink["arrow_schema"]
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(form)))
    # A temporary directory of the driver's is of use only where the task sees it; elsewhere parts travel whole.
    reachable = not sink["temporary"] or Path(sink["directory"]).is_dir()
    writer = StagedWriter(
        call.conn,
        str(rows.path),
        staging=sink["directory"] if reachable else None,
        columns=rows.columns,
        change_type_column=DELETED if deletes else rows.change_type_column,
        batch_id=call.get("batch"),
    )
    keys: list[pa.RecordBatch] = []
    try:
        for message in call.rows_in():
            batch = pa.ipc.read_record_batch(message, schema)
            fitting = deleted_rows(batch, rows.info.schema) if deletes else rows.fit(batch)
            if sink["keys"]:
                keys.append(fitting.select(rows.info.schema.primary_key))
            writer.write(fitting)
        part = writer.finish()
    except BaseException:
        writer.abort()
        raise
    return with_keys(part, keys) if sink["keys"] else part


def commit(call: Call) -> dict[str, Any]:
    """Append what all tasks staged, once; what it replaces goes before, or after."""
    parts, rows = call.parts(), _rows(call)
    overwrite = Overwrite.of_call(rows.info, call.get("overwrite"))
    if overwrite is None:
        done = _sink(call, rows).commit(call["batch"], parts)
    elif overwrite.way is Way.BY_KEY:
        done = _put_and_delete(call, rows, overwrite, parts)
    elif overwrite.way is Way.BY_PARTITION:
        clear_partitions(call.conn, rows.path, overwrite.partitions(call.conn, parts))
        done = _sink(call, rows).commit(call["batch"], parts)
    else:
        done = _swap(call, rows.info, parts)
    _forget(call)
    return {"rows": done.rows, "bytes": done.bytes, "already_done": done.already_done}


def _put_and_delete(call: Call, rows: RowsToWrite, overwrite: Overwrite, given: list[bytes]) -> CommitResult:
    """Put the new rows, then delete the keys that were there before and are not among them."""
    parts, new = split_keys(given)
    names = overwrite.partitions(call.conn, parts)
    key = arrow_schema(rows.info.schema.select(rows.info.schema.primary_key))
    there = pa.Table.from_batches(list(keys_there(call.conn, rows.info, names)), key)
    done = _sink(call, rows).commit(call["batch"], parts)
    gone = stale_keys(there, new)
    if gone.num_rows:
        call.conn.table(str(rows.path)).delete(gone)
    return done


def _swap(call: Call, beside: TableInfo, parts: list[bytes]) -> CommitResult:
    path, directory = TablePath.parse(call["table"]), call["sink"]["directory"]
    done = fill(call.conn, beside.path, parts, directory)
    swap(call.conn, path, beside.path, beside.descriptor, parts, directory)
    return done


def abort(call: Call) -> None:
    """Drop what tasks staged."""
    parts = split_keys(call.parts())[0] if call["sink"]["keys"] else call.parts()
    _sink(call, _rows(call)).abort(parts)
    if call["sink"]["beside"]:
        call.conn.drop_table(call["sink"]["beside"], missing_ok=True)
    _forget(call)


def row_level(call: Call) -> None:
    """Refuse DELETE, UPDATE and MERGE where they cannot be done."""
    check_row_level(call.conn.table(str(own_path(call))).info, call["command"])


def truncate(call: Call) -> bool:
    """Delete every row of a primary key table."""
    table = call.conn.table(str(own_path(call)))
    if not table.info.descriptor.has_primary_key:
        raise not_by_row(table.info, "TRUNCATE, or DELETE of all rows,")
    check_row_level(table.info, "DELETE")
    for keys in keys_there(call.conn, table.info, None):
        table.delete(keys)
    return True


def _sink(call: Call, rows: RowsToWrite) -> StagedSink:
    return StagedSink(call.conn, str(rows.path), call["sink"]["directory"], columns=rows.columns)


def _forget(call: Call) -> None:
    if call["sink"]["temporary"]:
        shutil.rmtree(call["sink"]["directory"], ignore_errors=True)
