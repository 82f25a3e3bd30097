"""Which columns of a Parquet file are worth a dictionary."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lakeward.lake.rows.parquet_dictionaries import dictionary_columns, with_dictionaries

_ROWS = 300_000
_RANDOM = np.random.default_rng(7)


def _encodes(column: pa.Array) -> bool:
    """Whether a file of this column alone would have a dictionary of it."""
    rows = pa.table({"value": column})
    options = with_dictionaries({"use_dictionary": dictionary_columns(rows.schema) or False}, rows)
    return bool(options["use_dictionary"])


@pytest.mark.parametrize(
    ("values", "repeats"),
    [
        pytest.param(_RANDOM.integers(0, 10_000, _ROWS) * 1_000_003, True, id="foreign keys"),
        pytest.param(_RANDOM.integers(0, 7, _ROWS), True, id="line numbers"),
        pytest.param(_RANDOM.choice([0.0, 0.05, 0.1], _ROWS), True, id="rates"),
        pytest.param(np.repeat(np.arange(30), _ROWS // 30), True, id="one value after the other"),
        pytest.param(np.arange(_ROWS), False, id="numbers that grow"),
        pytest.param(np.arange(_ROWS) // 4, False, id="numbers that grow slowly"),
        pytest.param(_RANDOM.integers(0, 200_000, _ROWS), False, id="many keys"),
        pytest.param(_RANDOM.random(_ROWS), False, id="fractions"),
    ],
)
def test_a_column_of_wide_numbers_has_one_if_its_values_come_back(values: Any, repeats: bool) -> None:
    """Also where neighbours are alike, and a look at one place would be mistaken."""
    assert _encodes(pa.array(values)) is repeats


def test_texts_that_do_not_repeat_have_none() -> None:
    """It would be given up halfway."""
    assert not _encodes(pa.array([f"comment {number}" for number in range(_ROWS)]))
    assert _encodes(pa.array(["red", "green"] * (_ROWS // 2)))


@pytest.mark.parametrize("column", [pa.nulls(_ROWS, pa.string()), pa.nulls(_ROWS, pa.int64())])
def test_a_column_of_nulls_is_left_to_its_type(column: pa.Array) -> None:
    """There is nothing to look at."""
    assert _encodes(column) is pa.types.is_string(column.type)


def test_few_rows_and_parts_of_values_stay_with_their_types() -> None:
    """A look would take longer than it saves."""
    options = {"compression": "zstd", "use_dictionary": ["tags.list.element"]}
    rows = pa.table({"id": np.zeros(1000, dtype=np.int64), "tags": [["a"]] * 1000})
    assert with_dictionaries(options, rows) == options
    many = pa.table({"id": np.arange(_ROWS), "tags": [["a"]] * _ROWS})
    assert with_dictionaries(options, many) == options


def test_a_file_of_every_type_has_all_rows() -> None:
    """Parquet's writer takes what is said of them."""
    values = {"number": 1, "amount": Decimal("1.50"), "is_so": True, "text": "a", "bytes": b"a", "nothing": None}
    rows = pa.table({name: [value] * _ROWS for name, value in values.items()})
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, **with_dictionaries({"use_dictionary": dictionary_columns(rows.schema)}, rows))
    assert pq.read_table(pa.BufferReader(sink.getvalue())).equals(rows)
