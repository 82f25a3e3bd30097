"""Values as JSON."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.formats.json.json_options import JsonSettings
from lakeward.formats.json.json_text import value_texts
from lakeward.model.data_types import DOUBLE, FLOAT, DataType


@pytest.mark.parametrize("type_", [FLOAT(), DOUBLE()])
def test_a_real_number_looks_like_one(type_: DataType) -> None:
    """Readers that guess types would take 9 for a whole number, and then 1.5 for 1."""
    values = pa.array([9.0, -3.0, 1.5, 0.0, None, float("nan"), 1e300 if type_ == DOUBLE() else 1e30])
    arrow = pa.float64() if type_ == DOUBLE() else pa.float32()
    texts = value_texts(values.cast(arrow), type_, JsonSettings()).to_pylist()
    assert texts[:6] == ["9.0", "-3.0", "1.5", "0.0", "null", '"NaN"']
    assert float(texts[6]) == values[6].as_py()
