"""Rows that do not fit."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ErrorCode, LakewardError
from lakeward.tiering.task import dead_letters
from lakeward.tiering.task.dead_letters import LetterSorter


class Picky:
    """A writer that takes no negative number, and remembers the rest."""

    def __init__(self) -> None:
        self.taken: list[int] = []

    def write(self, rows: pa.RecordBatch) -> None:
        """All or none."""
        values = rows["x"].to_pylist()
        if any(value < 0 for value in values):
            raise ErrorCode.INVALID_TARGET_COLUMN.error("Column 'x' does not fit into the lake: too small.")
        self.taken.extend(values)


def batch(values: list[int]) -> pa.RecordBatch:
    """Rows from offset 100 on."""
    return pa.record_batch(
        {"x": values, "__bucket": [3] * len(values), "__offset": [100 + i for i in range(len(values))]},
        schema=pa.schema({"x": pa.int64(), "__bucket": pa.int32(), "__offset": pa.int64()}),
    )


@given(st.lists(st.integers(-3, 20)))
def test_each_row_is_written_or_a_letter(values: list[int]) -> None:
    """In the order they came, whatever the mixture."""
    picky, sorter = Picky(), LetterSorter("shop.orders", None, takes_letters=True)
    sorter.write(picky.write, batch(values))
    assert picky.taken == [v for v in values if v >= 0]
    assert [one.row_offset - 100 for one in sorter.letters] == [i for i, v in enumerate(values) if v < 0]


def test_a_letter_tells_where_and_why() -> None:
    """And holds the row."""
    sorter = LetterSorter("shop.orders", "a", takes_letters=True)
    sorter.write(Picky().write, batch([-7]))
    (letter,) = sorter.letters
    assert (letter.partition_name, letter.row_bucket, letter.row_offset) == ("a", 3, 100)
    assert json.loads(letter.row_json)["x"] == -7
    assert "too small" in letter.reason


def test_without_a_table_for_letters_the_first_row_fails_the_task() -> None:
    """Its place is named, and what to do."""
    with pytest.raises(LakewardError, match=r"orders, bucket 3 of a, offset 102: .*lakeward.tiering.dead-letter-table"):
        LetterSorter("shop.orders", "a", takes_letters=False).write(Picky().write, batch([1, 2, -3, -4]))


def test_too_many_letters_are_no_accident(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong type is not put aside row by row for ever."""
    monkeypatch.setattr(dead_letters, "LETTERS_MAX", 2)
    with pytest.raises(LakewardError, match="more than 2 rows"):
        LetterSorter("shop.orders", None, takes_letters=True).write(Picky().write, batch([-1, -2, -3]))


def test_any_other_failure_is_not_about_rows() -> None:
    """A full disk makes no letters."""

    def full(_: Any) -> None:
        raise ErrorCode.STORAGE.error("full")

    with pytest.raises(LakewardError, match="full"):
        LetterSorter("shop.orders", None, takes_letters=True).write(full, batch([1, 2]))
