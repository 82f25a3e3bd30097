"""Rows for keys that have none: a lookup may ask to have them inserted, with nothing but their key.

A stored key has no partition columns; those have the values of the partition that the bucket belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lakeward.model.partition_text import value_of_text
from lakeward.records.batch.kv_batch import build_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_decoding import decode_key
from lakeward.records.row import compacted_row, indexed_row
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.store.slices import Slices


def batch_of_missing(
    table: KvTable, keys: Slices, found: Slices, partition_values: Sequence[str] = ()
) -> bytearray | None:
    """A batch that inserts a row for each key without one; None when all are there."""
    missing = {key: None for key in (keys[int(i)] for i in np.flatnonzero(found.starts < 0)) if key is not None}
    if not missing:
        return None
    key_types = [table.types[i] for i in table.key_positions]
    row_codec = (indexed_row if table.kv_format == "INDEXED" else compacted_row).codec(table.types)
    partition_cells = _partition_cells(table, partition_values)
    rows = []
    for key in missing:
        cells = partition_cells.copy()
        values = decode_key(table.key_encoding, key_types, key)
        for position, cell in zip(table.key_positions, values, strict=True):
            cells[position] = cell
        rows.append(row_codec.encode(cells))
    return build_kv_batch(table.schema_id, Spans.of(list(missing)), Spans.of(rows))


def _partition_cells(table: KvTable, partition_values: Sequence[str]) -> list[object]:
    """A row with nothing but its partition."""
    cells: list[object] = [None] * len(table.types)
    schema, names = table.info.schema, table.info.descriptor.partition_keys
    for name, text in zip(names, partition_values, strict=True):
        position = schema.positions[name]
        cells[position] = value_of_text(table.types[position], text)
    return cells
