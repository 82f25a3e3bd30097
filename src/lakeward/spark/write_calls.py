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

from lakeward.client.staged import StagedSink, StagedWriter
from lakeward.errors import ErrorCode
from lakeward.options.spark import SINK_STAGING_DIR
from lakeward.query import filters
from lakeward.query.filters import And, Compare, Filter, In, Or
from lakeward.query.pushdown import keeps_partition, partition_values
from lakeward.runtime.entropy import SystemEntropy
from lakeward.spark.call import Call
from lakeward.spark.chosen_table import columns_of
from lakeward.spark.overwrite import check_overwrite, clear_partitions
from lakeward.spark.rows_to_write import RowsToWrite
from lakeward.spark.spark_arrow import spark_arrow_schema

_BATCH_ROWS, _BATCH_BYTES = 65_536, 8 << 20
_SINK_DIRECTORY = "lakeward-sink"


@dataclass(frozen=True)
class _Columns:
    """The columns of a DataFrame as Spark's JSON."""

    form: dict[str, Any]

    def json(self) -> str:
        return json.dumps(self.form)


def _rows(call: Call) -> RowsToWrite:
    return RowsToWrite.of({**call.options, "table": call["table"]}, _Columns(call["schema"]))


def begin(call: Call) -> dict[str, Any]:
    """Check that the rows fit the table; where they are staged, and in which Arrow types."""
    rows = _rows(call)
    overwrite = call.get("overwrite") or {"mode": "append"}
    if overwrite["mode"] != "append":
        check_overwrite(rows.path, rows.info)
        for each in overwrite.get("filters", ()):
            _check_condition(rows, filters.of_json(each))
    directory, temporary = _directory(call, rows)
    schema = spark_arrow_schema(columns_of(_Columns(call["schema"])))
    return {
        "directory": directory,
        "temporary": temporary,
        "arrow_schema": base64.b64encode(schema.serialize()).decode(),
        "batch_rows": _BATCH_ROWS,
        "batch_bytes": _BATCH_BYTES,
    }


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
    """Stage the rows that follow; the answer is the part."""
    rows, sink = _rows(call), call["sink"]
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(sink["arrow_schema"])))
    # A temporary directory of the driver's is of use only where the task sees it; elsewhere parts travel whole.
    reachable = not sink["temporary"] or Path(sink["directory"]).is_dir()
    writer = StagedWriter(
        call.conn,
        str(rows.path),
        staging=sink["directory"] if reachable else None,
        columns=rows.columns,
        change_type_column=rows.change_type_column,
        batch_id=call.get("batch"),
    )
    try:
        for message in call.rows_in():
            writer.write(rows.fit(pa.ipc.read_record_batch(message, schema)))
        return writer.finish()
    except BaseException:
        writer.abort()
        raise


def commit(call: Call) -> dict[str, Any]:
    """Append what all tasks staged, once."""
    parts, rows = call.parts(), _rows(call)
    overwrite = call.get("overwrite") or {"mode": "append"}
    match overwrite["mode"]:
        case "dynamic":
            clear_partitions(call.conn, rows.path, parts)
        case "filters":
            _drop_matching(call, rows, [filters.of_json(f) for f in overwrite["filters"]])
    done = _sink(call, rows).commit(call["batch"], parts)
    _forget(call)
    return {"rows": done.rows, "bytes": done.bytes, "already_done": done.already_done}


def abort(call: Call) -> None:
    """Drop what tasks staged."""
    _sink(call, _rows(call)).abort(call.parts())
    _forget(call)


def _sink(call: Call, rows: RowsToWrite) -> StagedSink:
    return StagedSink(call.conn, str(rows.path), call["sink"]["directory"], columns=rows.columns)


def _forget(call: Call) -> None:
    if call["sink"]["temporary"]:
        shutil.rmtree(call["sink"]["directory"], ignore_errors=True)


# -- overwriting by condition -----------------------------------------------------------------------------------------


def _check_condition(rows: RowsToWrite, condition: Filter) -> None:
    """Refuse a condition that does not name whole partitions."""
    keys = rows.info.descriptor.partition_keys
    match condition:
        case And(children) | Or(children):
            for child in children:
                _check_condition(rows, child)
        case Compare("=" | "<=>", column) | In(column) if column in keys:
            pass
        case _:
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"Table {rows.path} cannot be overwritten where {condition}: only whole partitions can, by the values"
                f" of {', '.join(keys)}."
            )


def _drop_matching(call: Call, rows: RowsToWrite, conditions: list[Filter]) -> None:
    table = call.conn.table(str(rows.path))
    for partition in table.partitions():
        if keeps_partition(conditions, partition_values(rows.info.schema, partition.spec)):
            table.drop_partition(partition.spec, missing_ok=True)
