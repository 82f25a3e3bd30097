"""Replacing a table: the new one is built beside the old one, whole, before that one goes.

    beside made → rows appended to it → old dropped → made again, the same rows appended → beside dropped

The protocol knows neither renaming nor swapping, so there is a moment in which the name stands for less than all rows.
In it the table is marked as one to be filled, and nobody reads a part of it for the whole. Whoever dies in it leaves
the table beside, which has every new row; renaming that one finishes the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lakeward.client.blocking.sync import Connection
from lakeward.client.staged import CommitResult, StagedSink
from lakeward.client.staged.parts.part import Part
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.names import NAME_LENGTH_MAX
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.plan.planner import plan_read
from lakeward.query.read.read import read_splits
from lakeward.query.request.filling import FILLED_FROM
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.entropy import SystemEntropy

_MARK = "__replacing_"
_MARK_DIGITS = 8


def create(conn: Connection, path: TablePath, descriptor: TableDescriptor) -> TableInfo:
    """Create a table as described."""
    return conn.create_table(
        str(path),
        descriptor.schema,
        partition_by=descriptor.partition_keys,
        bucket_by=descriptor.bucket_keys,
        buckets=descriptor.bucket_count,
        properties=descriptor.properties,
        custom_properties=descriptor.custom_properties,
        comment=descriptor.comment,
    ).info


def check_replaceable(info: TableInfo, verb: str) -> None:
    """Refuse to take away a table of which a lake has a part: what is there would outlive it."""
    if LAKE_ENABLED.read(info.descriptor.properties):
        raise ErrorCode.INVALID_TABLE.error(
            f"Table {info.path} cannot be {verb}: it is tiered (table.datalake.enabled), and the lake would keep the"
            " old rows. Create a table under another name, or drop this one and its lake table first."
        )


def make_beside(conn: Connection, path: TablePath, descriptor: TableDescriptor) -> TableInfo:
    """Create the table that is filled beside `path`."""
    mark = f"{_MARK}{SystemEntropy().uuid().hex[:_MARK_DIGITS]}"
    beside = TablePath(path.database, path.table[: NAME_LENGTH_MAX - len(mark)] + mark)
    return create(conn, beside, _to_be_filled(descriptor, None))


def _to_be_filled(descriptor: TableDescriptor, source: TablePath | None) -> TableDescriptor:
    """The same table, marked as one that is filled from another; without a source, without a mark."""
    kept = {key: value for key, value in descriptor.custom_properties.items() if key != FILLED_FROM}
    return replace(descriptor, custom_properties=kept if source is None else {**kept, FILLED_FROM: str(source)})


def swap(
    conn: Connection,
    path: TablePath,
    beside: TablePath,
    descriptor: TableDescriptor,
    parts: Sequence[bytes],
    directory: str | None,
) -> TableInfo:
    """Put the rows of `beside`, which these parts hold too, under the name of `path`; the old table goes."""
    conn.drop_table(str(path), missing_ok=True)
    try:
        made = create(conn, path, _to_be_filled(descriptor, beside))
        if directory is not None:
            relabelled = [_relabel(part, made) for part in parts]
            StagedSink(conn, str(path), directory).commit(0, relabelled)
        conn.alter_table(str(path), reset=[FILLED_FROM])
    except LakewardError as wrong:
        raise wrong.code.error(
            f"Table {path} was dropped to be replaced, and then: {str(wrong).rstrip('.')}. All its new rows are in"
            f" {beside}; drop {path} if it is there, and ALTER TABLE {beside} RENAME TO {path} finishes the work."
        ) from wrong
    conn.drop_table(str(beside), missing_ok=True)
    return made


def fill(conn: Connection, beside: TablePath, parts: Sequence[bytes], directory: str) -> CommitResult:
    """Append what tasks staged to the table beside; the parts stay, for the second time."""
    return StagedSink(conn, str(beside), directory).commit(0, parts, keep=True)


def _relabel(part: bytes, info: TableInfo) -> bytes:
    """The same batches, for a table that was made in the same way."""
    return replace(Part.of_bytes(part), table=str(info.path), table_id=info.table_id).to_bytes()


def leftover(conn: Connection, path: TablePath) -> TablePath | None:
    """A table beside `path` that a replacement has left."""
    prefix = path.table + _MARK
    names = [n for n in conn.tables(path.database) if n.startswith(prefix)]
    return TablePath(path.database, names[-1]) if names else None


def rename(conn: Connection, old: TablePath, new: TablePath) -> None:
    """Copy a table under another name, then drop it; refuses, and leaves the old one, if rows came meanwhile."""
    source = conn.table(str(old))
    check_replaceable(source.info, "renamed")
    create(conn, new, _to_be_filled(source.info.descriptor, old))
    try:
        before = source.offsets()
        _copy(conn, old, new)
        if source.offsets() != before:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {old} was written to while it was copied to {new}; it stays as it is. Stop its writers first."
            )
        conn.alter_table(str(new), reset=[FILLED_FROM])
    except BaseException:
        conn.drop_table(str(new), missing_ok=True)
        raise
    conn.drop_table(str(old))


def _copy(conn: Connection, old: TablePath, new: TablePath) -> None:
    request = ReadRequest(old)
    source, target = conn.table(str(old)), conn.table(str(new))
    if source.info.descriptor.is_partitioned:
        for partition in source.partitions():
            target.create_partition(partition.spec, exist_ok=True)
    rows = read_splits(conn, request, plan_read(conn, request).splits)
    if source.info.descriptor.has_primary_key:
        target.upsert(rows)
    else:
        target.append(rows)
