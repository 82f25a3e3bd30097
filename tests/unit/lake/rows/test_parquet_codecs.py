"""Which columns of a Parquet file are worth zstd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeward.lake.rows.parquet_codecs import with_codecs

OPTIONS: dict[str, Any] = {"compression": "zstd", "use_dictionary": ["day", "tags.list.element"]}


def rows(count: int) -> pa.Table:
    """Numbers that grow, days that a dictionary holds, and a list of the same."""
    days = np.random.default_rng(7).integers(0, 2500, count).astype(np.int32)
    tags = pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32)), pa.array(days))
    return pa.table({"id": np.arange(count) * 3, "day": pa.array(days), "tags": tags})


def test_a_column_that_its_dictionary_has_made_small_is_not_compressed_hard() -> None:
    """Also within a list; numbers that grow are worth it."""
    found = with_codecs(OPTIONS, rows(200_000))
    assert found["compression"] == {"id": "zstd", "day": "snappy", "tags.list.element": "snappy"}


@pytest.mark.parametrize("level", [None, 1])
def test_the_file_is_as_it_says(level: int | None) -> None:
    """Each column in its codec, and all rows are there."""
    table = rows(200_000)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **with_codecs({**OPTIONS, "compression_level": level}, table))
    file = pq.ParquetFile(pa.BufferReader(sink.getvalue()))
    group = file.metadata.row_group(0)
    assert [group.column(n).compression for n in range(3)] == ["ZSTD", "SNAPPY", "SNAPPY"]
    assert file.read().equals(table)


@pytest.mark.parametrize("options", [{**OPTIONS, "compression": "gzip"}, {"compression": "snappy"}])
def test_another_codec_stays(options: dict[str, Any]) -> None:
    """It was chosen by somebody."""
    assert with_codecs(options, rows(200_000)) == options


def test_few_rows_stay_as_they_are() -> None:
    """A look would take longer than it saves."""
    assert with_codecs(OPTIONS, rows(1000)) == OPTIONS
