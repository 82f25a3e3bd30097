"""A table's figures, asked of its cluster: offsets, a look at the newest batches, a sample of rows. Within bounds.

Whatever cannot be had, because the cluster is Apache's, or the lake is not here, stays unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.advice.figures import TableFigures
from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.results import BucketId, Timestamp
from lakeward.errors import LakewardError
from lakeward.lake.catalog_of import format_name
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.lake.cold_part import open_reader
from lakeward.tiering.watch.lag import lag_of

#: Rows of a sample, in all and of one bucket, and how many buckets are looked at.
_SAMPLE_ROWS = 20_000
_SAMPLED_BUCKETS = 8
_NOW_MS = 60_000


def survey(conn: Connection, table: Table, now_ms: int, lake_options: Mapping[str, str] | None = None) -> TableFigures:
    """The figures of a table, as of now."""
    info, descriptor = table.info, table.info.descriptor
    starts, ends = table.offsets("earliest"), table.offsets("latest")
    rows = {id_: max(end - starts.get(id_, 0), 0) for id_, end in ends.items()}
    fullest = sorted(rows, key=lambda id_: rows[id_], reverse=True)[:_SAMPLED_BUCKETS]
    sampled = [id_ for id_ in fullest if rows[id_]]
    facts: dict[str, Any] = {
        "table": str(table.path),
        "has_primary_key": descriptor.has_primary_key,
        "bucket_count": info.bucket_count,
        "partition_count": len({id_.partition for id_ in ends}) if descriptor.is_partitioned else 1,
        "partition_keys": tuple(descriptor.partition_keys),
        "bucket_keys": tuple(descriptor.bucket_keys),
        "columns": {column.name: str(column.type) for column in info.schema.columns},
        "properties": dict(descriptor.properties),
        "log_rows": sum(rows.values()),
        "largest_bucket_rows": max(rows.values(), default=0),
        "is_tiered": bool(LAKE_ENABLED.read(descriptor.properties)),
    }
    if descriptor.has_primary_key:
        with suppress(LakewardError):
            facts["key_rows"] = table.count()
    facts |= _rates(table, starts, ends, sampled, now_ms)
    facts |= _sizes(table, ends, sampled)
    with suppress(LakewardError):
        facts |= _sample(table, rows, ends, sampled)
    if facts["is_tiered"]:
        facts |= _lake(conn, table, now_ms, lake_options or {})
    return TableFigures(**facts)


def _rates(
    table: Table, starts: Mapping[BucketId, int], ends: Mapping[BucketId, int], sampled: list[BucketId], now_ms: int
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with suppress(LakewardError):
        then = table.offsets(Timestamp(now_ms - _NOW_MS))
        lately = sum(max(end - max(then.get(id_, end), 0), 0) for id_, end in ends.items())
        found["rows_per_s_now"] = lately / (_NOW_MS / 1000)
    with suppress(LakewardError):
        peeked = [table.peek(id_, starts.get(id_, 0)) for id_ in sampled]
        times = [one.time_ms for one in peeked if one is not None and one.time_ms > 0]
        if times:
            age_s = max((now_ms - min(times)) / 1000, 0.0)
            rows = sum(end - starts.get(id_, 0) for id_, end in ends.items())
            found |= {"log_age_s": age_s, "rows_per_s": rows / max(age_s, _NOW_MS / 1000)}  # a burst is no average
    return found


def _sizes(table: Table, ends: Mapping[BucketId, int], sampled: list[BucketId]) -> dict[str, Any]:
    rows = size = looks = 0
    with suppress(LakewardError):
        for id_ in sampled:
            peeked = table.peek(id_, max(ends[id_] - 1, 0))
            if peeked is not None and peeked.rows:
                rows, size, looks = rows + peeked.rows, size + peeked.bytes, looks + 1
    return {"row_bytes": size / rows, "batch_rows": rows / looks} if rows else {}


def _sample(
    table: Table, rows: Mapping[BucketId, int], ends: Mapping[BucketId, int], sampled: list[BucketId]
) -> dict[str, Any]:
    """The newest rows of some buckets: kinds of changes, and how many values columns have."""
    each = _SAMPLE_ROWS // max(len(sampled), 1)
    batches: list[pa.RecordBatch] = []
    for id_ in sampled:
        start = ends[id_] - min(rows[id_], each)
        scan = table.scan(
            start={id_: start},
            end={id_: ends[id_]},
            limit=each,
            partitions=None if id_.partition is None else [id_.partition],
            buckets=[id_.bucket],
            metadata_columns=True,
            skip_damaged=True,
        )
        batches += list(islice(scan, each))
    if not batches:
        return {}
    found = pa.Table.from_batches(batches)
    kinds = found["_change_type"]
    changes = {kind: pc.sum(pc.equal(kinds, kind)).as_py() or 0 for kind in ("+I", "+U", "-D")}
    told = sum(changes.values())
    distinct = {
        column.name: pc.count_distinct(found[column.name]).as_py()
        for column in table.info.schema.columns
        if not pa.types.is_nested(found.schema.field(column.name).type)
    }
    figures: dict[str, Any] = {"sampled_rows": found.num_rows, "distinct": distinct}
    if table.info.descriptor.has_primary_key and told:
        shares = {"update_share": changes["+U"] / told, "delete_share": changes["-D"] / told}
        figures |= {"sampled_changes": told, **shares}
    return figures


def _lake(conn: Connection, table: Table, now_ms: int, options: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {"lake_format": format_name(table.info)}
    with suppress(LakewardError):
        found["lake_lag_rows"] = lag_of(conn, table, now_ms).rows
    with suppress(LakewardError, OSError):
        reader = open_reader(table.info, options)
        known = [] if reader is None else reader.history()
        if reader is None or not known:
            return found
        files = reader.files(known[0].snapshot_id)
        deletes = {one.path for placed in files for one in placed.file.deletes}
        deletes |= {one.path for placed in files for one in placed.file.equality_deletes}
        found |= {
            "lake_files": len(files) + len(deletes),
            "lake_delete_files": len(deletes),
            "lake_bytes": sum(placed.file.bytes for placed in files),
            "lake_snapshots": len(known),
        }
    return found
