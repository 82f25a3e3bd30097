"""Which columns of a Parquet file are worth a dictionary: by their types, and for many rows by a look at them.

A dictionary that is given up halfway costs time and bytes; a column that repeats and has none is read in twice to
three times the time. So a sample of the first row group says how many values a column has.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

#: Of fewer rows types alone decide: a look would take longer than it saves.
_ROWS_MIN = 1 << 15
#: The sample: so many pieces of so many rows. Neighbours are often alike, pieces are not.
_PIECES, _PIECE_ROWS = 16, 1 << 11
#: Half of what Parquet's writers allow, since the number of values is a guess.
_BYTES_MAX = 1 << 19
#: Values that come back less often are not worth their numbers.
_REPEATS_MIN = 4


def dictionary_columns(schema: pa.Schema) -> list[str]:
    """Columns, by their path in Parquet, that may well repeat by their types: texts and small numbers."""
    return [path for field in schema for path in _repeating(field.name, field.type)]


def with_dictionaries(options: Mapping[str, Any], rows: pa.Table) -> dict[str, Any]:
    """The options of a Parquet writer for rows like these; parts of lists, maps and structs stay with their types."""
    if rows.num_rows < _ROWS_MIN:
        return dict(options)
    by_type: list[str] = options.get("use_dictionary") or []
    plain = [field.name for field in rows.schema if not pa.types.is_nested(field.type)]
    parts = [path for path in by_type if path not in plain]
    sample = _sample(rows.select(plain))
    repeating = [name for name in plain if _repeats(sample[name], name in by_type, rows.num_rows)]
    return {**options, "use_dictionary": parts + repeating or False}


def _sample(rows: pa.Table) -> pa.Table:
    """Pieces from everywhere; every second one of them comes first, so that half of it is from everywhere, too."""
    step = rows.num_rows // _PIECES
    pieces = [rows.slice(number * step, _PIECE_ROWS) for number in range(_PIECES)]
    return pa.concat_tables(pieces[::2] + pieces[1::2])


def _repeats(sample: pa.ChunkedArray, by_type: bool, rows: int) -> bool:
    """Whether a column of so many rows has few values: what the second half of a sample brings tells how they grow."""
    if sample.null_count == len(sample):
        return by_type
    try:  # a null counts as a value
        half, all_ = (len(pc.unique(part)) for part in (sample.slice(0, len(sample) // 2), sample))
    except pa.ArrowNotImplementedError:
        return by_type
    growth = log2(all_ / half)
    values = all_ * (rows / len(sample)) ** growth
    return bool(values * _REPEATS_MIN <= rows and values * sample.nbytes <= _BYTES_MAX * len(sample))


def _repeating(path: str, type_: pa.DataType) -> list[str]:
    if pa.types.is_list(type_):
        return _repeating(f"{path}.list.element", type_.value_type)
    if pa.types.is_map(type_):
        parts = (("key", type_.key_type), ("value", type_.item_type))
        return [p for name, part in parts for p in _repeating(f"{path}.key_value.{name}", part)]
    if pa.types.is_struct(type_):
        return [p for field in type_ for p in _repeating(f"{path}.{field.name}", field.type)]
    # For these the attempt costs half of the writing, and most of them end up plain.
    is_wide = pa.types.is_int64(type_) or pa.types.is_timestamp(type_) or pa.types.is_floating(type_)
    return [] if is_wide else [path]
