"""Keys of many rows at once."""

from __future__ import annotations

import pytest
from row_vectors import VECTORS, label, types_of, values_of
from span_bytes import bytes_of

from lakeward.errors import InvalidError
from lakeward.model.data_types import ARRAY, INT, STRING
from lakeward.records.columnar.row_kernels import decode_rows
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_encoding import KeyEncoding
from lakeward.records.key.key_rows import keys_of_columns
from lakeward.records.row import compacted_row


@pytest.mark.parametrize("vector", VECTORS["single_column_keys_and_buckets"], ids=label)
def test_keys_have_the_bytes_of_the_vectors(vector: dict) -> None:
    """Keys made of columns are those that the official client and the Java classes make of rows."""
    types = types_of(vector)
    row = compacted_row.encode_row(types, values_of(vector))
    columns = decode_rows(Spans.of([row] * 3), types)
    keys = keys_of_columns(columns, types, [0], KeyEncoding(vector["encoder"]))
    assert [k.hex() for k in bytes_of(keys)] == [vector["key_hex"]] * 3


def test_key_columns_are_taken_in_the_order_of_the_key() -> None:
    """The order of the primary key counts, not that of the table."""
    types = (INT(), STRING(), INT())
    columns = decode_rows(Spans.of([compacted_row.encode_row(types, (300, "key-001", None))]), types)
    assert bytes_of(keys_of_columns(columns, types, [1, 0]))[0].hex() == "076b65792d303031ac02"


def test_a_key_column_is_never_null() -> None:
    """The refusal names row and column."""
    types = (INT(), STRING())
    rows = [compacted_row.encode_row(types, values) for values in ((1, "x"), (None, "y"))]
    columns = decode_rows(Spans.of(rows), types)
    with pytest.raises(InvalidError, match="A key column must not be NULL: row 1, column 0"):
        keys_of_columns(columns, types, [0])


def test_types_that_are_no_keys_are_refused() -> None:
    """As by the encoder of one key."""
    types = (ARRAY(INT()),)
    columns = decode_rows(Spans.of([compacted_row.encode_row(types, ((1,),))]), types)
    with pytest.raises(InvalidError):
        keys_of_columns(columns, types, [0], KeyEncoding.PAIMON)
