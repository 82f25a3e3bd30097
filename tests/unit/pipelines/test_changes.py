"""Rows on their way: filtered, fitted, turned into puts and deletes."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.pipelines.changes import are_inserts, filter_changes, fit_rows, to_upserts

N, B, A, D = 1, 2, 3, 4


def _batch(*ids: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"id": list(ids)})


def _kinds(*kinds: int) -> pa.Array:
    return pa.array(kinds, pa.uint8())


@pytest.mark.parametrize(
    ("kinds", "keep", "left"),
    [
        ((B, A), (True, True), [(0, B), (1, A)]),
        ((B, A), (True, False), [(0, D)]),  # out of what is kept: a delete
        ((B, A), (False, True), [(1, N)]),  # into it: an insert
        ((B, A), (False, False), []),
        ((N, D), (True, True), [(0, N), (1, D)]),
        ((N, D), (False, False), []),
        ((A,), (False,), [(0, D)]),  # nobody says what was before
        ((N, A, B, A), (True, True, True, False), [(0, N), (1, A), (2, D)]),
    ],
)
def test_who_sees_only_kept_rows_sees_these(
    kinds: tuple[int, ...], keep: tuple[bool, ...], left: list[tuple[int, int]]
) -> None:
    """Updates become inserts and deletes at the border."""
    rows, found = filter_changes(_batch(*range(len(kinds))), _kinds(*kinds), pa.array(keep), has_before=True)
    assert found is not None
    assert list(zip(rows["id"].to_pylist(), found.to_pylist(), strict=True)) == left


def test_without_the_row_before_a_delete_always_counts() -> None:
    """Its columns are NULL, so nobody knows whether it was kept."""
    rows, kinds = filter_changes(_batch(1), _kinds(D), pa.array([None], pa.bool_()), has_before=False)
    assert (rows["id"].to_pylist(), kinds.to_pylist()) == ([1], [D])
    rows, kinds = filter_changes(_batch(1, 2), None, pa.array([True, False]), has_before=True)
    assert (rows["id"].to_pylist(), kinds) == ([1], None)


def test_an_update_that_moves_a_row_deletes_its_old_key() -> None:
    """An update in place is a put, and no more."""
    rows, is_put = to_upserts(_batch(1, 1, 2, 3, 4), _kinds(B, A, B, A, D), ["id"])
    assert is_put is not None
    assert list(zip(rows["id"].to_pylist(), is_put.tolist(), strict=True)) == [
        (1, True), (2, False), (3, True), (4, False),
    ]  # fmt: skip
    assert to_upserts(_batch(1), None, ["id"])[1] is None
    assert are_inserts(_kinds(N, N))
    assert not are_inserts(_kinds(N, D))


def test_columns_are_taken_by_name_and_cast() -> None:
    """What does not come is NULL; what does not fit is named."""
    columns, key = parse_columns("a BIGINT, b STRING, c INT")
    target = Schema.of(columns, key)
    rows = pa.RecordBatch.from_pydict({"x": pa.array([1], pa.int32()), "c": pa.array([2], pa.int64())})
    fitted = fit_rows(rows, target, {"a": "x"}, "t")
    assert fitted.to_pylist() == [{"a": 1, "b": None, "c": 2}]
    wide = pa.RecordBatch.from_pydict({"c": pa.array([1 << 40], pa.int64())})
    with pytest.raises(LakewardError, match="A value of column c does not fit t"):
        fit_rows(wide, target, {}, "t")
