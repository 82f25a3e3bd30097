"""Compiled code ready before the first request needs it."""

from __future__ import annotations

import numpy as np

from lakeward.model.data_types import INT, STRING
from lakeward.records.batch.changelog_batch import build_changelog_batch, build_row_changelog_batch, changelog_rows
from lakeward.records.batch.kv_batch import build_kv_batch, parse_kv_batch
from lakeward.records.batch.value_batch import encode_value_batch, parse_value_batch, split_values
from lakeward.records.columnar.columns import Columns
from lakeward.records.columnar.row_kernels import RowForm, encode_rows
from lakeward.records.kernels.spans import Spans, read_only


def compile_row_kernels() -> None:
    """Run every kernel of rows and batches once. Ten seconds after an installation, a quarter of one later on.

    The compiler holds the interpreter lock: a server does this before it listens, or in a process of its own.
    """
    types, row = (INT(), STRING()), b"\0\x01\x01x"
    columns = Columns(1, read_only(b"\1\0\0\0\0\0\0\0\1\0\0\0x"), [1, 0, 1, 0], [0, 0, 0, 4, 0, 0, 4, 8, 12, 1])
    assert encode_rows(columns, types)[0].tobytes() == row
    batch = parse_kv_batch(build_kv_batch(1, Spans.of([b"\x01"]), Spans.of([row])))
    rows, insert = Spans([batch.data], batch.row_starts, batch.row_ends), np.array([1], np.uint8)
    changelog_rows(build_changelog_batch(types, 1, insert, rows), types, [0])
    changelog_rows(build_row_changelog_batch(types, 1, insert, rows), types, [0], log_format=RowForm.COMPACTED.value)
    split_values(parse_value_batch(encode_value_batch(Spans.of([b"\1\0" + row]))))
