"""JSON values as columns."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.model.schema import Column
from lakeward.model.type_text import parse_type
from lakeward.records.texts.json_columns import column_of_json
from lakeward.records.texts.misfits import MISFITS


def _column(values: list[Any], type_: str) -> list[Any]:
    return column_of_json(values, Column("c", parse_type(type_))).to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("type_", "text", "same"),
    [
        ("TIMESTAMP(3)", "2026-08-01T12:00:00.123", "2026-08-01 12:00:00.123"),
        ("TIMESTAMP(3)", "2026-08-01 12:00", "2026-08-01T12:00:00"),
        ("TIMESTAMP_LTZ(3)", "2026-08-01T12:00:00+02:00", "2026-08-01 10:00:00Z"),
        ("TIMESTAMP_LTZ(0)", "2026-08-01T12:00:00", "2026-08-01 12:00:00Z"),
        ("TIME(3)", "12:00:00.5", "12:00:00.500"),
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_times_can_be_written_in_more_than_one_way(type_: str, text: str, same: str, nested: bool) -> None:
    """The same moment is the same value, at the top and inside of other values."""
    if nested:
        assert _column([[text]], f"ARRAY<{type_}>") == _column([[same]], f"ARRAY<{type_}>")
    else:
        assert _column([text], type_) == _column([same], type_)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        *[("TIMESTAMP(3)", "2026-08-01T12:00:00.1234"), ("TIMESTAMP(3)", "2026-08-01T12:00:00Z")],
        *[("TIMESTAMP(3)", "12:00"), ("DATE", "2026-08-01T12:00"), ("DATE", "2026-02-30"), ("TIME(0)", "25:00")],
        *[("TIMESTAMP(3)", 1_785_000_000), ("INT", 1.5), ("INT", True), ("INT", "1"), ("TINYINT", 300)],
        *[("STRING", 1), ("BOOLEAN", 1), ("BYTES", "not base64!"), ("FLOAT", 1e300), ("DOUBLE", "1")],
        *[("DECIMAL(5, 2)", "1.234"), ("ARRAY<INT>", {"a": 1}), ("ROW<a INT>", {"b": 1}), ("MAP<INT, INT>", {"x": 1})],
    ],
)
@pytest.mark.parametrize("nested", [False, True])
def test_a_value_of_another_type_is_refused(type_: str, value: Any, nested: bool) -> None:
    """Nothing is rounded, cut or taken for something else."""
    given, wanted = ([value], f"ARRAY<{type_}>") if nested else (value, type_)
    with pytest.raises(MISFITS):
        _column([given], wanted)
