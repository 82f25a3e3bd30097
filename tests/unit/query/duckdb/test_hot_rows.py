"""What is hot of a table, as tables of DuckDB: what can be used again, what is missing."""

from __future__ import annotations

import pyarrow as pa
import pytest

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeFile
from lakeward.query.duckdb.duck_tables import DuckTable, TooLargeError
from lakeward.query.duckdb.gone_rows import GoneTable
from lakeward.query.duckdb.hot_rows import HotRows, _in_few_pieces, _Room, touched_files

A, B = BucketId(None, 0), BucketId(None, 1)
KEPT = HotRows(("x", "y"), 7, {A: (10, 20)})


def test_more_of_the_same_logs_can_be_added() -> None:
    """Only what is new is fetched."""
    assert KEPT.leads_to(["x"], 7, {A: (10, 25), B: (0, 3)})
    assert KEPT.since({A: (10, 25), B: (0, 3)}) == {A: (20, 25), B: (0, 3)}
    assert KEPT.since({A: (10, 20)}) == {}


def test_other_rows_are_not_taken_for_these() -> None:
    """A newer snapshot, another column, a log that begins elsewhere, or ends before what was seen of it."""
    assert not KEPT.leads_to(["z"], 7, {A: (10, 20)})
    assert not KEPT.leads_to(["x"], 8, {A: (10, 20)})
    assert not KEPT.leads_to(["x"], 7, {A: (12, 20)})
    assert not KEPT.leads_to(["x"], 7, {A: (10, 19)})
    assert not KEPT.leads_to(["x"], 7, {B: (10, 20)})


def test_files_without_a_row_that_is_gone_are_told_apart() -> None:
    """They are scanned as they are."""
    hot = HotRows(("x",), 7, {}, gone=GoneTable(files=frozenset({"/a b"})))
    one, other = LakeFile("file:///a%20b", 1, 1), LakeFile("/c", 1, 1)
    assert touched_files(hot, [one, other]) == ([one], [other])


def test_changes_are_bounded_while_they_come() -> None:
    """Not when all of them are there."""
    room = _Room(100)
    room.take(pa.record_batch({"n": list(range(10))}))
    with pytest.raises(TooLargeError):
        room.take(pa.record_batch({"n": list(range(10))}))


def test_many_pieces_become_few() -> None:
    """A query after each small append does not end with a scan of a thousand tables; the large one is not copied."""
    large = DuckTable.of_rows(pa.table({"n": list(range(100))}))
    pieces: tuple[DuckTable, ...] = (large,)
    for n in range(10):
        pieces = _in_few_pieces((*pieces, DuckTable.of_rows(pa.table({"n": [n]}))))
        assert len(pieces) <= 4
    assert pieces[0] is large
    assert sum(int(str(piece.column("SELECT count(*) FROM {}")[0])) for piece in pieces) == 110
