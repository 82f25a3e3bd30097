"""What a connection keeps between queries, and when it does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from lakeward.client.forms.results import BucketId
from lakeward.client.read.log_marks import LogEnd
from lakeward.query.duckdb import hot_tables
from lakeward.query.duckdb.duck_tables import DuckTable, TooLargeError
from lakeward.query.duckdb.hot_rows import HotRows
from lakeward.query.duckdb.hot_tables import HotTables, free_share

A, B = BucketId(None, 0), BucketId(None, 1)


class Loader:
    """Makes a table of ten rows for each time that something is new."""

    made = 0
    is_too_large = False
    log = "first"

    def __init__(self, *_: Any) -> None:
        pass

    def marks(self, windows: Any) -> Any:
        return {id_: (Loader.log, end) for id_, (_, end) in windows.items()}

    def of_log(self, before: HotRows, windows: Any) -> HotRows:
        if Loader.is_too_large:
            raise TooLargeError
        if not before.since(windows):
            return before
        Loader.made += 1
        rows = (*before.rows, DuckTable.of_rows(pa.table({"n": list(range(10))})))
        return replace(before, windows=windows, rows=rows)


class Asked:
    """A table, a plan and a request, as far as they are looked at."""

    def __init__(self, name: str = "t", stop: int = 0) -> None:
        self.path, self.table_id, self.schema_id = name, 1, 1
        self.info = self.descriptor = self.schema = self
        self.has_primary_key = False
        self.columns, self.options, self.names = ("n",), {}, ("n",)
        self.summary = self
        self.lake = None
        self.bucket_count, self.stretches = 2, {A: (0, stop), B: (3, 3)}


@pytest.fixture(autouse=True)
def loader(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server."""
    Loader.made, Loader.is_too_large, Loader.log = 0, False, "first"
    monkeypatch.setattr(hot_tables, "HotLoader", Loader)
    monkeypatch.setattr(hot_tables, "_is_kept", lambda *_: True)


def ask(
    tables: HotTables, stop: int, name: str = "t", *, is_joined: bool = True, seen: HotRows | None = None
) -> HotRows | None:
    """The rows up to an offset."""
    asked: Any = Asked(name, stop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hot_tables, "_windows", lambda _: {A: (0, stop)})
        return tables.rows(None, asked, asked, asked, seen, is_joined=is_joined)  # type: ignore[arg-type]


def test_the_second_query_fetches_what_is_new() -> None:
    """And none of it twice."""
    tables = HotTables(1000, lambda: 1.0)
    first, again, more = ask(tables, 5), ask(tables, 5), ask(tables, 6)
    assert first is not None
    assert again is not None
    assert more is not None
    assert (first.rows, len(more.rows), Loader.made) == (again.rows, 2, 2)


def test_a_table_that_is_read_once_is_not_kept() -> None:
    """A single answer streams; from the second query on it pays."""
    tables = HotTables(1000, lambda: 1.0)
    assert ask(tables, 5, is_joined=False) is None
    assert ask(tables, 5, is_joined=False) is not None


def test_a_log_that_ends_earlier_is_read_anew() -> None:
    """A server that lost rows may have others at the same offsets."""
    tables = HotTables(1000, lambda: 1.0)
    first, shorter = ask(tables, 5), ask(tables, 4)
    assert first is not None
    assert shorter is not None
    assert first.rows != shorter.rows


def test_a_log_that_lost_rows_and_grew_again_is_read_anew() -> None:
    """It does not end earlier, but has another batch where it ended."""
    tables = HotTables(1000, lambda: 1.0)
    first = ask(tables, 5)
    Loader.log = "second"
    same_end, longer = ask(tables, 5), ask(tables, 7)
    assert first is not None
    assert same_end is not None
    assert longer is not None
    assert first.rows != same_end.rows
    assert longer.rows[:1] == same_end.rows


def test_a_log_without_a_mark_is_not_trusted() -> None:
    """Its batch could not be had."""
    tables = HotTables(1000, lambda: 1.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loader, "marks", lambda *_: {})
        first, again = ask(tables, 5), ask(tables, 5)
    assert first is not None
    assert again is not None
    assert first.rows != again.rows


def test_a_glance_tells_whether_what_is_kept_holds() -> None:
    """With the same batch where a log ended it does, up to where the log ends now; buckets without rows stay so."""
    tables = HotTables(1000, lambda: 1.0)
    asked: Any = Asked()
    assert tables.look(asked) is None
    ask(tables, 5)
    kept = tables.look(asked)
    assert kept is not None
    assert kept.question.offsets == {A: 4, B: 3}
    first: Any = ("first", 5)
    seen = kept.seen(asked, {A: LogEnd(8, first), B: LogEnd(3, None)})
    assert seen is not None
    assert (seen.snapshot_id, seen.stretches) == (None, {A: (0, 8), B: (3, 3)})
    other: Any = ("second", 5)
    for told in (
        {A: LogEnd(8, first)},
        {A: LogEnd(8, None), B: LogEnd(3, None)},
        {A: LogEnd(8, other), B: LogEnd(3, None)},
        {A: LogEnd(4, first), B: LogEnd(3, None)},
        {A: LogEnd(8, first), B: LogEnd(4, None)},
    ):
        assert kept.seen(asked, told) is None
    again: Any = Asked()
    again.table_id = 2
    assert kept.seen(again, {A: LogEnd(8, first), B: LogEnd(3, None)}) is None


def test_what_was_seen_to_hold_is_not_looked_at_again() -> None:
    """Only what is new is."""
    tables = HotTables(1000, lambda: 1.0)
    ask(tables, 5)
    kept = tables.look(Asked())  # type: ignore[arg-type]
    assert kept is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loader, "marks", lambda *_: pytest.fail("it was asked"))
        assert ask(tables, 5, seen=kept.rows) is not None
    assert ask(tables, 6, seen=kept.rows) is not None
    assert Loader.made == 2


def test_what_was_used_longest_ago_leaves_first() -> None:
    """Memory is bounded."""
    tables = HotTables(170, lambda: 1.0)
    for name in ("a", "b", "a", "c"):
        ask(tables, 5, name)
    assert (tables.bytes, Loader.made) == (160, 3)
    ask(tables, 5, "a")
    assert Loader.made == 3
    ask(tables, 5, "b")
    assert Loader.made == 4


def test_nothing_is_kept_of_what_is_too_large() -> None:
    """It is not tried again at every query."""
    tables = HotTables(170, lambda: 1.0)
    Loader.is_too_large = True
    assert ask(tables, 5) is None
    Loader.is_too_large = False
    assert ask(tables, 6) is None


def test_everything_goes_when_memory_is_short() -> None:
    """And nothing is made then."""
    share = [1.0]
    tables = HotTables(1000, lambda: share[0])
    ask(tables, 5)
    share[0] = 0.05
    assert ask(tables, 5, "other") is None
    assert tables.bytes == 0


def test_how_much_memory_is_free_is_a_share() -> None:
    """Where nobody tells, all of it."""
    assert 0 < free_share() <= 1
