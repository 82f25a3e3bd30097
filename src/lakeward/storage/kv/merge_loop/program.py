"""What the compiled merge is told of a merger: a line of numbers for each column, and what holds for the whole batch.

Some mergers have no program and decide row by row: those with bitmaps, text that is joined in padded columns, products
of decimals, and arithmetic on decimals of more than 18 digits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.records.kernels.row_programs import FIELD, WIDTH, RowForm, row_program
from lakeward.records.kernels.spans import I64, U8
from lakeward.storage.kv.merge.aggregate_functions import DEFAULT_FUNCTION, delimiter_of
from lakeward.storage.kv.merge.merge_engines import Aggregation, FirstRow, LargestVersion
from lakeward.storage.kv.merge.partial_update import PartialUpdate
from lakeward.storage.kv.merge.row_merger import Deletes, MergeEngine, RowMerger
from lakeward.storage.kv.merge.value_rows import ValueRows
from lakeward.storage.kv.merge_loop import cell_kernels as cells
from lakeward.storage.kv.merge_loop import merge_kernels as kernels
from lakeward.storage.kv.merge_loop import row_kernels as batch

_ENGINES: dict[type[MergeEngine], int] = {
    FirstRow: kernels.FIRST_ROW,
    LargestVersion: kernels.VERSIONED,
    Aggregation: kernels.AGGREGATION,
    PartialUpdate: kernels.SOME_COLUMNS,
}
_DELETES = {Deletes.ALLOW: kernels.ALLOW, Deletes.IGNORE: kernels.IGNORE, Deletes.DISABLE: kernels.DISABLE}
_KINDS = {
    TypeRoot.TINYINT: (cells.INTEGER, 8),
    TypeRoot.SMALLINT: (cells.INTEGER, 16),
    TypeRoot.INTEGER: (cells.INTEGER, 32),
    TypeRoot.BIGINT: (cells.INTEGER, 64),
    TypeRoot.FLOAT: (cells.FLOAT, 32),
    TypeRoot.DOUBLE: (cells.DOUBLE, 64),
    TypeRoot.TIMESTAMP: (cells.TIMESTAMP, 64),
}
_BYTES = (cells.BYTES, 0)
_ACTIONS = {
    "last_value": cells.LAST,
    "last_value_ignore_nulls": cells.LAST_NOT_NULL,
    "first_value": cells.FIRST,
    "first_value_ignore_nulls": cells.FIRST,
    "sum": cells.SUM,
    "product": cells.PRODUCT,
    "max": cells.MAX,
    "min": cells.MIN,
    "bool_and": cells.BOTH,
    "bool_or": cells.EITHER,
    "listagg": cells.JOIN,
    "string_agg": cells.JOIN,
}
_ARITHMETIC = {cells.SUM, cells.PRODUCT}


class MergeProgram(NamedTuple):
    """What `merge_kernels.merge` is told; the arrays are held for as long as `settings` has their addresses."""

    settings: I64
    lines: I64
    heads: I64
    joints: U8
    rows: ValueRows
    numbers_rows: bool

    def widths(self, schema_ids: Iterable[int]) -> I64:
        """How many columns rows have, by schema; 0 for schemas not asked for, or no beginning of the latest."""
        latest = self.rows.table.schema_id
        counts = np.zeros(latest + 1, np.int64)
        for schema_id in {latest, *schema_ids}:
            if 0 < schema_id <= latest:
                counts[schema_id] = self.rows.first_columns(schema_id)
        return counts

    def required_bits(self, schema_id: int) -> U8:
        """The null bits that must not be set in a row that arrives."""
        bits, columns = self.rows.required_of(schema_id)
        return np.frombuffer(bits.to_bytes((columns + 7) // 8 + 1, "little"), np.uint8)


def program_of(merger: RowMerger, *, full_image: bool) -> MergeProgram | None:
    """The program of a merger; None when its rows must be merged one by one."""
    if not isinstance(merger, FirstRow | LargestVersion | Aggregation | PartialUpdate):
        return None
    rows = merger.rows
    form = RowForm.INDEXED if rows.is_padded else RowForm.COMPACTED
    rows_as = row_program(rows.types, form)
    lines = np.zeros((len(rows.types), cells.LINE_NUMBERS), np.int64)
    lines[:, cells.FIELD], lines[:, cells.WIDTH] = rows_as.fields[:, FIELD], rows_as.fields[:, WIDTH]
    joints = bytearray()
    for line, type_ in zip(lines, rows.types, strict=True):
        line[cells.KIND], line[cells.BITS] = _KINDS.get(type_.root, _BYTES)
    if isinstance(merger, Aggregation | PartialUpdate) and not _add_actions(merger, lines, joints):
        return None
    held = np.frombuffer(bytes(joints) or b"\0", np.uint8)
    heads = np.ascontiguousarray(rows_as.head_bytes)
    settings = np.zeros(batch.SETTINGS, np.int64)
    settings[batch.ENGINE] = _ENGINES[type(merger)]
    settings[batch.DELETES] = _DELETES[merger.deletes]
    settings[batch.FULL_IMAGE] = full_image
    settings[batch.LATEST_SCHEMA_ID] = rows.table.schema_id
    settings[batch.COLUMNS] = len(rows.types)
    settings[batch.SAYS_NOTHING] = isinstance(merger, PartialUpdate) and merger.says_nothing
    settings[batch.VERSION_AT] = merger.version_at if isinstance(merger, LargestVersion) else -1
    settings[batch.ROW_BYTES] = rows_as.row_bytes_max + len(joints)
    settings[batch.NULL_BYTES] = rows_as.null_bytes
    settings[batch.PROGRAM] = lines.ctypes.data
    settings[batch.HEADS] = heads.ctypes.data
    settings[batch.JOINTS] = held.ctypes.data
    numbers_rows = isinstance(merger, PartialUpdate) and merger.number_at is not None
    return MergeProgram(settings, lines, heads, held, rows, numbers_rows)


def _add_actions(merger: Aggregation | PartialUpdate, lines: I64, joints: bytearray) -> bool:
    """What becomes of the cells of each column; False when it is for Python to say."""
    schema = merger.rows.table.schema
    aggregates = isinstance(merger, Aggregation) or merger.aggregates
    targets = range(len(schema.columns)) if isinstance(merger, Aggregation) else merger.targets
    for i, (line, column) in enumerate(zip(lines, schema.columns, strict=True)):
        is_key = column.name in schema.primary_key
        line[cells.IS_KEY], line[cells.IS_TARGET] = is_key, i in targets
        if i not in targets:
            is_number = isinstance(merger, PartialUpdate) and i == merger.number_at
            line[cells.ACTION] = cells.NUMBERED if is_number else cells.KEEP_OLD
        elif is_key or not aggregates:
            line[cells.ACTION] = cells.LAST
        else:
            aggregate = column.aggregate or DEFAULT_FUNCTION
            action = _ACTIONS.get(aggregate.function)
            if action is None or not _is_compiled(action, column.type, line):
                return False
            line[cells.ACTION] = action
            if action == cells.JOIN:
                delimiter = delimiter_of(aggregate)
                line[cells.JOINT_AT], line[cells.JOINT_BYTES] = len(joints), len(delimiter)
                joints += delimiter
    return True


def _is_compiled(action: int, type_: DataType, line: I64) -> bool:
    if action == cells.JOIN:
        return type_.root is TypeRoot.STRING
    if action in {cells.BOTH, cells.EITHER}:
        return type_.root is TypeRoot.BOOLEAN
    is_number = int(line[cells.KIND]) not in {cells.BYTES, cells.TIMESTAMP}
    if type_.root is TypeRoot.DECIMAL:
        if is_number and action in _ARITHMETIC:
            line[cells.KIND] = cells.DECIMAL
        return action not in {*_ARITHMETIC, cells.MAX, cells.MIN} or (is_number and action != cells.PRODUCT)
    return is_number or action not in _ARITHMETIC
