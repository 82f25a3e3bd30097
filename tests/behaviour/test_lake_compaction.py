"""A lake table compacted by hand: fewer files, the same rows, whoever reads them and whatever rounds do meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lake_tables import Rounds, read_by_duckdb, read_by_pyiceberg, table_info
from paimon_readers import read_by_paimon_rust

from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.commit import compaction
from lakeward.lake.paimon import table as paimon_table
from lakeward.lake.port import Compaction, Compacts, KeepsHouse, LakePlace
from lakeward.model.table import TableInfo

READERS = {"iceberg": (read_by_pyiceberg, read_by_duckdb), "paimon": (read_by_paimon_rust,)}
LOG = table_info({"id": "BIGINT", "name": "STRING"})
KEYED = table_info({"id": "BIGINT NOT NULL", "name": "STRING"}, key="id")
PLACE, OTHER = LakePlace(0), LakePlace(1)
Opened = Callable[[TableInfo], Rounds]


@pytest.fixture(params=READERS)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Opened:
    """Opens a table in a new warehouse of each format."""
    return lambda info: Rounds(lake_format(request.param), tmp_path, info)


def seen(rounds: Rounds) -> list[tuple[Any, ...]]:
    """The rows as every reader sees them that we did not write."""
    answers = [
        sorted((row["__bucket"], row["id"], row["name"]) for row in read(rounds.warehouse))
        for read in READERS[rounds.format.name]
    ]
    assert all(answer == answers[0] for answer in answers)
    return answers[0]


def compacted(rounds: Rounds, on_step: Callable[[Compaction], None] = lambda _: None) -> Compaction:
    """What a full compaction says."""
    assert isinstance(rounds.table, Compacts)
    return rounds.table.compact_fully(on_step)


def meanwhile(rounds: Rounds, monkeypatch: pytest.MonkeyPatch, does: Callable[[], object]) -> None:
    """Have something happen while files are rewritten, each time that they are."""
    module, name = (compaction, "_rewrite_files") if rounds.format.name == "iceberg" else (paimon_table, "rewrite")
    rewritten = getattr(module, name)

    def slowly(*arguments: object) -> object:
        does()
        return rewritten(*arguments)

    monkeypatch.setattr(module, name, slowly)


def test_small_files_of_a_log_table_become_one_a_bucket(opened: Opened) -> None:
    """Two are enough; rows, and how far the lake is, stay; a second time there is nothing to do."""
    rounds = opened(LOG)
    for number in range(3):
        rounds.round({PLACE: [{"id": number, "name": "a"}], OTHER: [{"id": -number, "name": "b"}]})
    before, latest = seen(rounds), rounds.table.latest()
    assert isinstance(rounds.table, Compacts)
    planned = rounds.table.untidy()
    assert (planned.before.files, planned.snapshot_id) == (6, None)
    assert seen(rounds) == before
    done = compacted(rounds)
    assert done.before == planned.before
    assert 1 <= done.after.files <= 2
    assert seen(rounds) == before
    assert rounds.table.latest() == latest
    assert compacted(rounds) == Compaction()


def test_files_by_key_are_merged_and_deletes_applied(opened: Opened) -> None:
    """One file a bucket is left, without deletes; rounds go on from there."""
    rounds = opened(KEYED)
    for number in range(4):
        rounds.round({PLACE: [{"id": key, "name": f"v{number}"} for key in range(4)], OTHER: [{"id": 9 + number}]})
    rounds.round({PLACE: [{"id": 0, "_": "-D"}, {"id": 1, "name": "last"}]})
    before = seen(rounds)
    done = compacted(rounds)
    assert done.snapshot_id is not None
    assert done.after.files == 2
    assert done.before.files > 4
    assert seen(rounds) == before == [(0, 1, "last"), (0, 2, "v3"), (0, 3, "v3"), *((1, 9 + n, None) for n in range(4))]
    rounds.round({PLACE: [{"id": 2, "_": "-D"}, {"id": 1, "name": "later"}, {"id": 0, "name": "back"}]})
    assert seen(rounds)[:3] == [(0, 0, "back"), (0, 1, "later"), (0, 3, "v3")]
    assert rounds.table.latest().offsets == rounds.offsets  # type: ignore[union-attr]


def test_a_place_that_was_emptied_has_no_file(opened: Opened) -> None:
    """All of its rows are deleted: nothing is left to write."""
    rounds = opened(KEYED)
    rounds.round({PLACE: [{"id": 1, "name": "a"}]})
    rounds.round({PLACE: [{"id": 1, "_": "-D"}]})
    assert compacted(rounds).after.files == 0
    assert seen(rounds) == []
    rounds.round({PLACE: [{"id": 1, "name": "again"}]})
    assert seen(rounds) == [(0, 1, "again")]


def test_what_a_round_changes_meanwhile_is_not_undone(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that were replaced and deleted while their files were rewritten do not come back."""
    rounds = opened(KEYED)
    for number in range(3):
        rounds.round({PLACE: [{"id": key, "name": f"v{number}"} for key in range(3)]})
    turns = [{"id": 0, "name": "new"}, {"id": 1, "_": "-D"}]
    meanwhile(rounds, monkeypatch, lambda: rounds.round({PLACE: [turns.pop()]}) if turns else None)
    assert compacted(rounds).snapshot_id is not None
    while turns:
        rounds.round({PLACE: [turns.pop()]})
    assert seen(rounds) == [(0, 0, "new"), (0, 2, "v2")]
    assert rounds.table.latest().offsets == rounds.offsets  # type: ignore[union-attr]


def test_a_round_that_was_written_meanwhile_goes_in_or_begins_again(opened: Opened) -> None:
    """Either way each of its changes counts once."""
    rounds = opened(KEYED)
    for number in range(3):
        rounds.round({PLACE: [{"id": key, "name": f"v{number}"} for key in range(3)]})
    known, changes = dict(rounds.offsets), {PLACE: [{"id": 0, "name": "new"}, {"id": 7, "name": "also"}]}
    written = rounds.write(changes)
    compacted(rounds)
    try:
        rounds.commit(written)
    except LakeConflictError:
        rounds.table.discard(written)
        rounds.offsets = known
        rounds.round(changes)
    assert seen(rounds) == [(0, 0, "new"), (0, 1, "v2"), (0, 2, "v2"), (0, 7, "also")]


@pytest.mark.long
def test_who_is_overtaken_again_and_again_gives_up_and_leaves_nothing(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table is as the other one left it."""
    rounds = opened(KEYED)
    for number in range(2):
        rounds.round({PLACE: [{"id": 1, "name": f"v{number}"}]})
    other, is_busy = opened(KEYED), [False]

    def overtake() -> None:
        if is_busy[0]:
            return
        is_busy[0] = True
        compacted(other)
        other.offsets = dict(rounds.offsets)
        for number in range(2):
            other.round({PLACE: [{"id": 1, "name": f"other {number}"}]})
        rounds.offsets = dict(other.offsets)
        is_busy[0] = False

    monkeypatch.setattr(compaction if rounds.format.name == "iceberg" else paimon_table, "_ATTEMPTS", 2)
    meanwhile(rounds, monkeypatch, overtake)
    with pytest.raises(LakeConflictError, match="overtaken"):
        compacted(rounds)
    assert [row[:2] for row in seen(rounds)] == [(0, 1)]
    assert isinstance(rounds.table, KeepsHouse)
    assert rounds.table.orphans(10**13) == []


def test_readers_of_an_older_snapshot_are_not_disturbed(opened: Opened) -> None:
    """Files that went are there until their snapshots expire."""
    rounds = opened(KEYED)
    for number in range(3):
        made = rounds.round({PLACE: [{"id": 1, "name": f"v{number}"}]})
    reader = rounds.table.reader(rounds.info)  # type: ignore[attr-defined]
    files = [placed.file for placed in reader.files(made.snapshot_id)]
    compacted(rounds)
    batches = reader.rows(files, pa.schema([("name", pa.string())]))
    assert [row["name"] for batch in batches for row in batch.to_pylist()] == ["v2"]
