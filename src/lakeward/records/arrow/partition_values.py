"""Partition names of Arrow rows: text is made once per distinct value, never per row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType
from lakeward.model.partition import check_values, name_of_values, value_text
from lakeward.records.arrow.arrow_rows import values_of
from lakeward.records.arrow.arrow_types import arrow_type


def partition_names(
    rows: pa.RecordBatch | pa.Table,
    keys: Sequence[str],
    types: Sequence[DataType],
    *,
    follow_pyfluss: bool = False,
) -> tuple[NDArray[np.int32], list[str]]:
    """For each row the index of its partition's name, and the distinct names in order of appearance."""
    encoded = [_encode(rows.column(key), key, type_, follow_pyfluss) for key, type_ in zip(keys, types, strict=True)]
    codes, first_texts = encoded[0]
    names: list[tuple[str, ...]] = [(text,) for text in first_texts]
    for own_codes, own_texts in encoded[1:]:
        codes, names = _combine(codes, names, own_codes, own_texts)
    return codes.astype(np.int32), [name_of_values(values) for values in names]


def _encode(
    column: pa.Array | pa.ChunkedArray, key: str, type_: DataType, follow_pyfluss: bool
) -> tuple[NDArray[np.int64], list[str]]:
    if column.null_count:
        raise ErrorCode.PARTITION_SPEC_INVALID.error(
            f"Partition key '{key}' has {column.null_count} NULL in the data; its value must not be NULL."
        )
    if column.type != arrow_type(type_):
        column = column.cast(arrow_type(type_))
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = pc.dictionary_encode(array)
    texts = [value_text(type_, v, follow_pyfluss=follow_pyfluss) for v in values_of(encoded.dictionary, type_)]
    check_values(texts, creating=False)
    return encoded.indices.to_numpy().astype(np.int64), texts


def _combine(
    codes: NDArray[np.int64], names: list[tuple[str, ...]], own_codes: NDArray[np.int64], own_texts: list[str]
) -> tuple[NDArray[np.int64], list[tuple[str, ...]]]:
    """Number the combinations that occur from 0 in order of appearance, so that many keys cannot overflow."""
    pairs, first_rows, inverse = np.unique(codes * len(own_texts) + own_codes, return_index=True, return_inverse=True)
    order = np.argsort(first_rows)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    combined = [(*names[pair // len(own_texts)], own_texts[pair % len(own_texts)]) for pair in pairs[order].tolist()]
    return rank[inverse], combined
