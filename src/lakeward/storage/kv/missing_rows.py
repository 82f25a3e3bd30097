"""Rows for keys that have none: a lookup may ask to have them inserted, with nothing but their key."""

from __future__ import annotations

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.records import compacted_row, indexed_row
from lakeward.records.key_encoding import KeyEncoding
from lakeward.records.kv_batch import build_kv_batch
from lakeward.records.spans import Spans
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.slices import Slices


def batch_of_missing(table: KvTable, keys: Slices, found: Slices) -> bytearray | None:
    """A batch that inserts a row for each key without one; None when all are there."""
    missing = {key: None for key in (keys[int(i)] for i in np.flatnonzero(found.starts < 0)) if key is not None}
    if not missing:
        return None
    info = table.info
    if table.key_encoding is not KeyEncoding.COMPACTED or info.descriptor.is_partitioned:
        raise ErrorCode.UNSUPPORTED_VERSION.error(
            f"Missing rows of table {info.path} cannot be inserted by a lookup: its keys do not hold all their columns."
        )
    key_types = [table.types[i] for i in table.key_positions]
    row_codec = (indexed_row if table.kv_format == "INDEXED" else compacted_row).codec(table.types)
    no_nulls = bytes((len(key_types) + 7) // 8)  # a key is a compacted row without its null bits
    rows = []
    for key in missing:
        cells: list[object] = [None] * len(table.types)
        for position, cell in zip(
            table.key_positions, compacted_row.decode_row(key_types, no_nulls + key), strict=True
        ):
            cells[position] = cell
        rows.append(row_codec.encode(cells))
    return build_kv_batch(table.schema_id, Spans.of(list(missing)), Spans.of(rows))
