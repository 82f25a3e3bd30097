"""Texts of a CSV file as columns."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.model.schema import Column
from lakeward.model.type_text import parse_type
from lakeward.records.texts.misfits import MISFITS
from lakeward.records.texts.text_columns import column_of_texts


@pytest.mark.parametrize(
    ("type_", "texts", "values"),
    [
        ("BOOLEAN", ["true", "FALSE", "1"], [True, False, True]),
        ("INT", [" 1 ", "-2"], [1, -2]),
        ("DOUBLE", ["1", "1e3", "NaN"], None),
        ("BYTES", ["aGk=", ""], [b"hi", b""]),
        ("ARRAY<INT>", ["[1, null]", "[]"], [[1, None], []]),
        ("STRING", [" a "], [" a "]),
    ],
)
def test_texts_are_read_as_the_type(type_: str, texts: list[str], values: list[object] | None) -> None:
    """Blanks around values that are no texts do not matter; NULL stays NULL."""
    column = column_of_texts(pa.array([*texts, None], pa.string()), Column("c", parse_type(type_)))
    assert len(column) == len(texts) + 1
    assert column.null_count == 1
    if values is not None:
        assert column.to_pylist() == [*values, None]


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        ("INT", "1.5"),
        ("INT", ""),
        ("TINYINT", "300"),
        ("BYTES", "!"),
        ("ARRAY<INT>", "[1"),
        ("DATE", "today"),
        ("BOOLEAN", "yes"),
    ],
)
def test_other_texts_are_refused(type_: str, text: str) -> None:
    """What cannot be read is not guessed."""
    with pytest.raises(MISFITS):
        column_of_texts(pa.array([text]), Column("c", parse_type(type_)))
