"""Net changes of a micro-batch."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from lakeward.spark.scripts.planning.net_changes import cancel_out

_SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "tags": pa.list_(pa.string()),
        "m": pa.map_(pa.string(), pa.int64()),
        "now": pa.int64(),
        "_change_type": pa.string(),
    }
)


def _net(*rows: tuple[Any, ...], compared: list[str] | None = None) -> list[tuple[Any, ...]]:
    """Each row in a batch of its own."""
    batches = [pa.RecordBatch.from_pylist([dict(zip(_SCHEMA.names, row, strict=True))], schema=_SCHEMA) for row in rows]
    found = list(cancel_out(iter(batches), compared or ["id", "tags", "m", "now"], ["id"]))
    assert all(batch.schema == _SCHEMA for batch in found)
    return [tuple(row.values()) for batch in found for row in batch.to_pylist()]


def test_what_is_added_and_taken_back_is_left_out() -> None:
    """Arrays and maps are compared too, whatever the order."""
    row = (1, ["a", None], [("k", 1)], None)
    assert _net((*row, "delete"), (*row, "update_after")) == []


def test_an_update_is_only_what_it_is_afterwards() -> None:
    """Also when the new row comes first."""
    new, old = (1, ["b"], None, 2, "update_after"), (1, ["a"], None, 1, "delete")
    assert _net(new, old) == [new]


def test_deletes_come_first() -> None:
    """They free what the others may need."""
    gone, came = (2, None, None, None, "delete"), (3, [], [], 0, "update_after")
    assert _net(came, gone) == [gone, came]


def test_columns_that_change_between_tellings_are_not_compared() -> None:
    """A row that came and went is gone, at whatever time it was told."""
    rows = [(1, None, None, 10, "update_after"), (1, None, None, 11, "delete")]
    assert _net(*rows, compared=["id", "tags", "m"]) == []


def test_nothing_gives_nothing() -> None:
    """A batch without rows."""
    assert _net() == []
