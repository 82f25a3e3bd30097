"""Arrow batches ↔ rows, as the client uses them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_batches import FORMS, brisk, encoded, schema_of, tables
from span_bytes import bytes_of

from lakeward.model.data_types import INT, STRING
from lakeward.records.arrow.arrow_row_kernels import arrow_of_rows, columns_of_arrow
from lakeward.records.arrow.arrow_rows import arrow_to_rows, rows_to_arrow
from lakeward.records.columnar.row_kernels import RowForm, encode_rows
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_encoding import KeyEncoding
from lakeward.records.key.key_rows import keys_of_columns


@pytest.mark.parametrize("form", FORMS)
@brisk
@given(table=tables(), data=st.data())
def test_slices_become_the_rows_they_show(form: RowForm, table, data) -> None:
    """Part of a batch is encoded as if it were all there is."""
    types, lines = table
    schema = schema_of(types)
    whole = rows_to_arrow(encoded(form, types, lines), schema, FORMS[form](types))
    piece = whole.slice(data.draw(st.integers(0, len(lines))), data.draw(st.integers(0, len(lines))))
    rows = Spans.of_bounds(*encode_rows(columns_of_arrow(piece, schema), types, form))
    assert bytes_of(rows) == arrow_to_rows(piece, schema, FORMS[form])


def test_rows_of_older_schemas_are_read_with_newer_ones() -> None:
    """A lookup may give rows that were written before a column was added."""
    types = (INT(), STRING())
    rows = [*encoded(RowForm.COMPACTED, types[:1], [(1,)]), *encoded(RowForm.COMPACTED, types, [(2, "x")])]
    batch = arrow_of_rows(Spans.of(rows), schema_of(types), column_counts=np.array([1, 2]))
    assert batch.to_pydict() == {"c0": [1, 2], "c1": [None, "x"]}


def test_keys_of_a_batch() -> None:
    """Key bytes of each row, in the table's encoding."""
    schema = schema_of((STRING(), INT()))
    batch = pa.record_batch([pa.array(["a", "b"]), pa.array([300, 1], pa.int32())], names=["c0", "c1"])
    types = [c.type for c in schema.columns]
    keys = keys_of_columns(columns_of_arrow(batch, schema), types, [1, 0], KeyEncoding.COMPACTED)
    assert [key.hex() for key in bytes_of(keys)] == ["ac020161", "010162"]
