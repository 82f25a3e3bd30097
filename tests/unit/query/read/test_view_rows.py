"""Changes → rows of views, however they are cut into batches."""

from __future__ import annotations

import datetime as dt
import itertools
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath
from lakeward.model.type_text import parse_columns
from lakeward.query.read.view_rows import BinlogRows, ChangelogRows, UpsertRows, state_changes
from lakeward.query.request.options import Deletes

SCHEMA = Schema.of(parse_columns("id BIGINT NOT NULL, name STRING")[0])
PATH = TablePath("db", "t")
TABLE = pa.schema([pa.field("id", pa.int64(), nullable=False), ("name", pa.string())])
ALL = ("_change_type", "_log_offset", "_commit_timestamp", "before", "after")


def changes(kinds: list[str], first: int = 0) -> pa.RecordBatch:
    """Changes at offsets from `first` on; the name of each says its offset."""
    offsets = range(first, first + len(kinds))
    rows = pa.record_batch([pa.array([o % 3 for o in offsets], pa.int64()), [f"at {o}" for o in offsets]], schema=TABLE)
    told = state_changes(rows, 0, 1000)
    at = told.schema.get_field_index("_offset")
    told = told.set_column(at, "_offset", pa.array(offsets, pa.int64()))
    return told.set_column(told.schema.get_field_index("_change_type"), "_change_type", pa.array(kinds, pa.string()))


_LOGS = st.lists(st.sampled_from([["+I"], ["-U", "+U"], ["-D"], ["+U"]]), max_size=12).map(
    lambda groups: [kind for group in groups for kind in group]
)


@given(kinds=_LOGS, cuts=st.sets(st.integers(1, 24)), edge=st.integers(0, 24))
def test_a_binlog_does_not_depend_on_cuts(kinds: list[str], cuts: set[int], edge: int) -> None:
    """Two splits, each read from one offset early and in any batches, give every row of the whole log once."""
    whole = _binlog(kinds, 0, len(kinds), set())
    edge = min(edge, len(kinds))
    assert _binlog(kinds, 0, edge, cuts) + _binlog(kinds, edge, len(kinds), cuts) == whole
    assert [r["_log_offset"] for r in whole] == [o for o, kind in enumerate(kinds) if kind != "-U"]
    for row in whole:
        offset, kind = row["_log_offset"], kinds[row["_log_offset"]]
        has_old = kind == "+U" and offset > 0 and kinds[offset - 1] == "-U"
        before = f"at {offset}" if kind == "-D" else f"at {offset - 1}" if has_old else None
        assert (row["before"] or {}).get("name") == before
        assert (row["after"] or {}).get("name") == (None if kind == "-D" else f"at {offset}")


def _binlog(kinds: list[str], start: int, stop: int, cuts: set[int]) -> list[dict[str, Any]]:
    made = BinlogRows(SCHEMA, ALL, start)
    first = max(start - made.lead, 0)
    edges = [first, *sorted(c for c in cuts if first < c < stop), stop]
    found: list[dict[str, Any]] = []
    for low, high in itertools.pairwise(edges):
        if high > low:
            batch = made.rows(changes(kinds[low:high], low))
            assert batch.schema.equals(made.schema)
            found += batch.to_pylist()
    return found


def test_a_changelog_names_changes_as_apache_fluss_does() -> None:
    """Words, not signs; an append is an insert."""
    made = ChangelogRows(SCHEMA, ("name", "_change_type"))
    rows = made.rows(changes(["+A", "+I", "-U", "+U", "-D"]))
    assert rows["_change_type"].to_pylist() == ["insert", "insert", "update_before", "update_after", "delete"]
    assert rows.schema.names == ["name", "_change_type"]


def test_rows_of_a_state_are_inserts() -> None:
    """With the offset and time that they are told."""
    rows = ChangelogRows(SCHEMA, ("_change_type", "_log_offset", "_commit_timestamp", "id"))
    state = state_changes(pa.record_batch([pa.array([5], pa.int64()), ["x"]], schema=TABLE), 9, 1000)
    second = dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC)
    assert [tuple(r.values()) for r in rows.rows(state).to_pylist()] == [("insert", 9, second, 5)]


def test_upserts() -> None:
    """What is left of changes when only rows can be shown; deletes are refused unless they may be left out."""
    kept = UpsertRows(PATH, SCHEMA, ("name",), Deletes.IGNORE)
    assert kept.rows(changes(["+I", "-U", "+U", "-D"]))["name"].to_pylist() == ["at 0", "at 2"]
    strict = UpsertRows(PATH, SCHEMA, ("name",), Deletes.FAIL)
    assert strict.rows(changes(["+I", "-U", "+U"])).num_rows == 2
    assert strict.rows(changes(["+I"])).num_rows == 1
    with pytest.raises(LakewardError, match=r"A row of db\.t was deleted \(offset 5\).*scan\.deletes=ignore"):
        strict.rows(changes(["+I", "-D"], 4))
