"""The rows of a streaming SELECT with ORDER BY and LIMIT."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.language.changes import CHANGE_TYPE
from lakeward.spark.scripts.state.live_rows import LiveRows
from lakeward.spark.scripts.state.top_rows import SortColumn, TopRows

_SCHEMA = pa.schema([("item", pa.string()), ("n", pa.float64())])
_ROWS = [("b", 2.0), ("a", None), ("c", 2.0), ("d", float("inf"))]


def changes(*rows: tuple[str, str, float]) -> pa.Table:
    """A micro-batch."""
    kinds, items, numbers = zip(*rows, strict=True)
    return pa.table({CHANGE_TYPE: list(kinds), "item": list(items), "n": pa.array(numbers, pa.float64())})


@pytest.mark.parametrize(
    ("columns", "items"),
    [
        ((SortColumn(1),), "abcd"),
        ((SortColumn(1, nulls_first=False),), "bcda"),
        ((SortColumn(1, is_descending=True, nulls_first=False),), "dbca"),
        ((SortColumn(1, is_descending=True), SortColumn(0, is_descending=True)), "adcb"),
        ((), "bacd"),
    ],
)
def test_rows_are_sorted_by_several_columns(columns: tuple[SortColumn, ...], items: str) -> None:
    """Up or down, NULLs where they are said to be; what is equal stays as it came."""
    assert "".join(item for item, _ in TopRows(columns).of(_ROWS)) == items


def test_nan_is_the_greatest() -> None:
    """As in Spark."""
    rows = [("x", float("nan")), *_ROWS]
    assert [item for item, _ in TopRows((SortColumn(1, is_descending=True, nulls_first=False),), 2).of(rows)] == [
        "x",
        "d",
    ]


def test_the_first_rows_by_key_change_as_rows_do() -> None:
    """One that comes pushes another out, and one that goes lets it in again; listeners hear of nothing else."""
    live = LiveRows(_SCHEMA, ["item"], has_changes=True, top=TopRows((SortColumn(1, is_descending=True),), 2))
    heard: list[tuple[str, str]] = []
    live.listen(lambda told: heard.extend((kind, row[0]) for kind, row in told))
    live.add(changes(("insert", "a", 1), ("insert", "b", 5), ("insert", "c", 3)))
    assert live.rows == [("b", 5.0), ("c", 3.0)]
    live.add(changes(("update_before", "a", 1), ("update_after", "a", 9)))
    assert live.rows == [("a", 9.0), ("b", 5.0)]
    live.add(changes(("delete", "b", 5)))
    assert live.rows == [("a", 9.0), ("c", 3.0)]
    assert heard == [
        ("insert", "b"),
        ("insert", "c"),
        ("delete", "c"),
        ("insert", "a"),
        ("delete", "b"),
        ("insert", "c"),
    ]


def test_limit_alone_holds_for_rows_that_change() -> None:
    """Those that came first."""
    live = LiveRows(_SCHEMA, ["item"], has_changes=True, top=TopRows((), 1))
    live.add(changes(("insert", "a", 1), ("insert", "b", 5)))
    assert live.rows == [("a", 1.0)]
    live.add(changes(("delete", "a", 1)))
    assert live.rows == [("b", 5.0)]


def test_of_rows_that_are_added_only_the_first_are_kept() -> None:
    """The rest never will be among them."""
    live = LiveRows(_SCHEMA, None, has_changes=False, top=TopRows((SortColumn(1),), 2))
    live.add(pa.table({"item": ["a", "b", "c"], "n": [3.0, 1.0, 2.0]}))
    live.add(pa.table({"item": ["d", "e"], "n": [0.0, 9.0]}))
    assert live.rows == [("d", 0.0), ("b", 1.0)]
