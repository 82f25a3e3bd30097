"""What a lake knows of a table, as tables: `db.t.snapshots`, `db.t.history`, `db.t.files`."""

from __future__ import annotations

from typing import Any

from lakeward.errors import ErrorCode
from lakeward.lake.port import LakeReader, LakeSnapshot
from lakeward.query.lake.cold_part import open_reader
from lakeward.spark.catalog.catalog_calls import own_path
from lakeward.spark.socket.call import Call

_COLUMNS = {
    "snapshots": {
        "committed_at": "timestamp",
        "snapshot_id": "long",
        "total_rows": "long",
        "total_bytes": "long",
        "is_ours": "boolean",
    },
    "history": {"made_current_at": "timestamp", "snapshot_id": "long", "is_current": "boolean"},
    "files": {
        "partition": "string",
        "bucket": "integer",
        "file_path": "string",
        "record_count": "long",
        "file_size_in_bytes": "long",
        "delete_files": "integer",
    },
}


def lake_table(call: Call) -> dict[str, Any]:
    """The columns and rows of one of these tables; times in microseconds, of snapshots the newest first."""
    what, path = call["what"], own_path(call)
    if what not in _COLUMNS:
        raise ErrorCode.TABLE_NOT_EXIST.error(f"Table {path} has no table '{what}'; it has {', '.join(_COLUMNS)}.")
    info = call.conn.table(str(path)).info
    reader = open_reader(info, call.options)
    rows = [] if reader is None else _rows(what, reader)
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in _COLUMNS[what].items()]
    return {"name": f"{path}.{what}", "schema": {"type": "struct", "fields": fields}, "rows": rows}


def _rows(what: str, reader: LakeReader) -> list[list[Any]]:
    known = reader.snapshots()
    match what:
        case "snapshots":
            return [[_micros(s), s.snapshot_id, s.total_rows, s.total_bytes, _is_round(s)] for s in known]
        case "history":
            return [[_micros(s), s.snapshot_id, s is known[0]] for s in known]
        case _:
            return [] if not known else _files(reader, known[0])


def _files(reader: LakeReader, snapshot: LakeSnapshot) -> list[list[Any]]:
    return [
        [
            "$".join(f.place.partition_values) or None,
            f.place.bucket,
            f.file.path,
            f.file.rows,
            f.file.bytes,
            len(f.file.deletes) + len(f.file.equality_deletes),
        ]
        for f in reader.files(snapshot.snapshot_id)
    ]


def _is_round(snapshot: LakeSnapshot) -> bool:
    return snapshot.round_id in (None, snapshot.snapshot_id)


def _micros(snapshot: LakeSnapshot) -> int:
    return snapshot.committed_ms * 1000
