"""Rows and what they are, on their way to a sink: filtered, fitted to its columns, turned into puts and deletes.

Whole columns at a time. `kinds` are ChangeKinds (uint8), None where all rows are inserts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.capture.port import ChangeKind
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_types import arrow_schema

_INSERT, _BEFORE, _AFTER, _DELETE = (kind.value for kind in ChangeKind)


def fit_rows(rows: pa.RecordBatch, target: Schema, origins: Mapping[str, str], where: str) -> pa.RecordBatch:
    """Rows in the columns of a target; `origins` names the column each comes from, and what has none is NULL."""
    wanted = arrow_schema(target)
    columns = []
    for field in wanted:
        place = rows.schema.get_field_index(origins.get(field.name, field.name))
        if place < 0:
            columns.append(pa.nulls(rows.num_rows, field.type))
            continue
        column = rows.column(place)
        if column.type != field.type:
            column = _cast(column, field, where)
        columns.append(column)
    bare = pa.schema([pa.field(field.name, field.type) for field in wanted])
    return pa.RecordBatch.from_arrays(columns, schema=bare)


def _cast(column: pa.Array, field: pa.Field, where: str) -> pa.Array:
    try:
        return pc.cast(column, field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as wrong:
        raise ErrorCode.INVALID_TABLE.error(
            f"A value of column {field.name} does not fit {where}, where it is {field.type}: {wrong}. Cast or "
            "leave it out by a transform, or route the table to a new one, which gets the columns of today."
        ) from wrong


def filter_changes(
    rows: pa.RecordBatch, kinds: pa.Array | None, keep: pa.Array, *, has_before: bool
) -> tuple[pa.RecordBatch, pa.Array | None]:
    """The changes as somebody sees them who sees only rows that are kept.

    An update that moves a row out of what is kept is a delete, one that moves it in is an insert. Where nobody says
    what was before, a row that is not kept any more is deleted in any case: it may have been kept.
    """
    kept = np.asarray(pc.fill_null(keep, fill_value=False).to_numpy(zero_copy_only=False), np.bool_)
    if kinds is None:
        return (rows, None) if kept.all() else (rows.filter(pa.array(kept)), None)
    what = np.array(kinds.to_numpy(zero_copy_only=False), np.uint8)
    stays = kept.copy()
    pair = _pairs(what)
    olds, news = np.flatnonzero(pair), np.flatnonzero(pair) + 1
    what[olds[kept[olds] & ~kept[news]]] = _DELETE
    what[news[~kept[olds] & kept[news]]] = _INSERT
    alone = what == _AFTER
    alone[news] = False
    what[alone & ~kept] = _DELETE
    stays |= alone
    if not has_before:
        stays |= what == _DELETE
    return rows.filter(pa.array(stays)), pa.array(what[stays])


def to_upserts(
    rows: pa.RecordBatch, kinds: pa.Array | None, key: Sequence[str]
) -> tuple[pa.RecordBatch, NDArray[np.bool_] | None]:
    """Rows to put and rows whose keys are deleted, in their order; None where all are put.

    What was before is needed only where an update changes the key: then the old one is deleted.
    """
    if kinds is None:
        return rows, None
    what = np.asarray(kinds.to_numpy(zero_copy_only=False), np.uint8)
    dropped = _pairs(what)
    if dropped.any():
        olds = np.flatnonzero(dropped)
        dropped[olds] = _same_keys(rows, olds, key)
        rows, what = rows.filter(pa.array(~dropped)), what[~dropped]
    is_put = (what == _INSERT) | (what == _AFTER)
    return rows, None if is_put.all() else is_put


def are_inserts(kinds: pa.Array | None) -> bool:
    """Whether no row was changed or deleted."""
    return kinds is None or bool(pc.all(pc.equal(kinds, _INSERT), min_count=0).as_py())


def _pairs(what: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which rows are the old image of an update whose new image follows."""
    found = np.zeros(len(what), np.bool_)
    found[:-1] = (what[:-1] == _BEFORE) & (what[1:] == _AFTER)
    return found


def _same_keys(rows: pa.RecordBatch, olds: NDArray[np.intp], key: Sequence[str]) -> NDArray[np.bool_]:
    same = np.ones(len(olds), np.bool_)
    for name in key:
        column = rows.column(name)
        equal = pc.equal(column.take(pa.array(olds)), column.take(pa.array(olds + 1)))
        same &= np.asarray(pc.fill_null(equal, fill_value=False).to_numpy(zero_copy_only=False), np.bool_)
    return same
