"""Which columns of a Parquet file are worth zstd.

It takes a reader twice the time of snappy, and a column whose dictionary has taken out what repeats (dates, states,
prices of a list) is hardly smaller for it. So a sample of the first row group is written both ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_SAMPLE_ROWS = 1 << 15
#: Fewer rows are read quickly, whatever they are in.
_ROWS_MIN = 1 << 17
#: How much smaller than snappy it has to be.
_WORTH = 0.85
#: A dictionary that becomes larger than this is given up, by Parquet's writers.
_DICTIONARY_BYTES = 1 << 20


def with_codecs(options: Mapping[str, Any], rows: pa.Table) -> dict[str, Any]:
    """The options of a Parquet writer for rows like these: zstd stays where it is asked for and is worth its time."""
    if options.get("compression") != "zstd" or rows.num_rows < _ROWS_MIN:
        return dict(options)
    sample = rows.slice((rows.num_rows - _SAMPLE_ROWS) // 2, _SAMPLE_ROWS)
    # Of fewer rows a dictionary is smaller: it is given up as early as that of all rows would be.
    limit = _DICTIONARY_BYTES * _SAMPLE_ROWS // rows.num_rows
    hard, soft = (
        _sizes(
            sample, {**options, "dictionary_pagesize_limit": limit, "compression_level": level, "compression": codec}
        )
        for codec, level in (("zstd", options.get("compression_level")), ("snappy", None))
    )
    codecs = {path: "zstd" if size < soft[path] * _WORTH else "snappy" for path, size in hard.items()}
    level = options.get("compression_level")
    levels = None if level is None else {path: level for path, codec in codecs.items() if codec == "zstd"}
    return {**options, "compression": codecs, "compression_level": levels or None}


def _sizes(rows: pa.Table, options: Mapping[str, Any]) -> dict[str, int]:
    """How many bytes each column takes, by its path."""
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, rows.schema, **options) as writer:
        writer.write_table(rows, row_group_size=rows.num_rows)
    group = pq.read_metadata(pa.BufferReader(sink.getvalue())).row_group(0)
    columns = (group.column(number) for number in range(group.num_columns))
    return {column.path_in_schema: column.total_compressed_size for column in columns}
