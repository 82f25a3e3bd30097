"""Columns → key bytes, many rows at once: how a store finds its keys again when it replays a changelog."""

from __future__ import annotations

from collections.abc import Sequence

from lakeward.model.data_types import DataType
from lakeward.records.columnar.columns import Columns, places_of, select
from lakeward.records.columnar.nested_columns import values_of
from lakeward.records.columnar.row_kernels import RowForm, encode_rows
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_encoding import KeyEncoding, key_encoder


def keys_of_columns(
    columns: Columns,
    types: Sequence[DataType],
    positions: Sequence[int],
    encoding: KeyEncoding = KeyEncoding.COMPACTED,
) -> Spans:
    """The key of each row from the columns at these positions. Keys of lakes are made one at a time."""
    key_types = tuple(types[p] for p in positions)
    encode = key_encoder(encoding, key_types)  # refuses types that cannot be keys
    chosen = select(columns, types, positions)
    if encoding is KeyEncoding.COMPACTED:
        return Spans.of_bounds(*encode_rows(chosen, key_types, RowForm.KEY))
    places = places_of(key_types)
    parts = [values_of(chosen, t, places.nodes[i], places.buffers[i]) for i, t in enumerate(key_types)]
    return Spans.of([encode(values) for values in zip(*parts, strict=True)])
