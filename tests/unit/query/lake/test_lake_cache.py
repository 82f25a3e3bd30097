"""What plans remember of lakes: for a moment, within bounds."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeFile, LakePlace, LakeSnapshot, PlacedFile
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_columns
from lakeward.query.lake import lake_cache
from lakeward.query.lake.cold_part import ColdPart
from lakeward.query.lake.lake_cache import LakeCache, cold_key
from lakeward.query.request.filters import Compare
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.clock import ManualClock


def table(table_id: int = 1) -> TableInfo:
    """A table."""
    columns, _ = parse_columns("id BIGINT")
    return TableInfo(TablePath("shop", "orders"), table_id, 1, TableDescriptor(Schema.of(columns)), 0, 0)


@pytest.fixture
def lakes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Tables as lakes show them, one after the other; None when there is none."""
    shown: list[Any] = []
    monkeypatch.setattr(lake_cache, "open_reader", lambda *_: shown.pop(0))
    return shown


def test_a_table_is_looked_up_again_after_a_moment(lakes: list[Any]) -> None:
    """Not before, unless it is another table, another lake, or a plan was overtaken."""
    clock = ManualClock()
    cache = LakeCache(clock, life_s=1)
    lakes += ["first", "of another table", "elsewhere", "second", "third"]
    assert cache.reader(table(), {}) == "first"
    assert cache.reader(table(), {"scan.tiers": "all"}) == "first"
    assert cache.reader(table(2), {}) == "of another table"
    assert cache.reader(table(), {"lake.warehouse": "there"}) == "elsewhere"
    clock.advance(1000)
    assert cache.reader(table(), {}) == "second"
    cache.forget_readers()
    assert cache.reader(table(), {}) == "third"


def test_a_table_that_is_not_there_yet_is_not_remembered(lakes: list[Any]) -> None:
    """It may come at any time."""
    cache = LakeCache(ManualClock())
    lakes += [None, "there"]
    assert cache.reader(table(), {}) is None
    assert cache.reader(table(), {}) == "there"


def part(files: int) -> ColdPart:
    """A snapshot with so many files."""
    placed = [PlacedFile(LakePlace(0), LakeFile(str(n), 1, 1)) for n in range(files)]
    return ColdPart("iceberg", 1, 0, {}, {BucketId(None, 0): placed}, files)


def test_files_of_snapshots_are_remembered_within_bounds() -> None:
    """The least used leave first; what is too large is made each time."""
    cache, made = LakeCache(ManualClock(), files_max=10), []

    def ask(key: Any, files: int) -> None:
        cache.cold_part(key, lambda: made.append(key) or part(files))  # type: ignore[func-returns-value]

    for key, files in (("a", 4), ("b", 4), ("a", 4), ("c", 4), ("a", 4), ("b", 4), ("huge", 11), ("huge", 11)):
        ask(key, files)
    assert made == ["a", "b", "c", "b", "huge", "huge"]


def test_files_are_those_of_one_snapshot_for_one_question() -> None:
    """Whatever the files depend on is in the key; 1 is not true."""

    def key(snapshot_id: int = 1, value: Any = 1, partitions: Any = (1, 2), **options: str) -> Any:
        request = ReadRequest(TablePath("shop", "orders"), filters=(Compare("=", "id", value),), options=options)
        return cold_key(table(), LakeSnapshot(snapshot_id, 5, {}, None, None, {}), request, partitions)

    assert key() == key() == key(**{"scan.split.rows": "5"})
    others = [key(snapshot_id=2), key(value=True), key(partitions=(1,)), key(**{"lake.warehouse": "x"})]
    assert len({key(), *others}) == 5
