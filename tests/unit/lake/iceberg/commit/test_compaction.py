"""Small files become fewer; no row changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lake_tables import Rounds, pyiceberg_table, read_by_duckdb, read_by_pyiceberg, table_info

from lakeward.lake.conflict import LakeConflictError
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.commit import compaction
from lakeward.lake.iceberg.commit.compaction import SMALL_FILES_MAX, CompactionResult, compact
from lakeward.lake.port import KeepsHouse, LakePlace

INFO = table_info({"id": "BIGINT", "name": "STRING"})
ROUNDS = SMALL_FILES_MAX + 1


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A log table with nine small files in bucket 0, and one in bucket 1."""
    made = Rounds(lake_format("iceberg"), tmp_path, INFO)
    made.round({LakePlace(1): [{"id": -1}]})
    for number in range(ROUNDS):
        made.round({LakePlace(0): [{"id": number, "name": "x"}]})
    return made


def ids(rounds: Rounds) -> list[int]:
    """As all readers see them."""
    found = [sorted(row["id"] for row in read(rounds.warehouse)) for read in (read_by_pyiceberg, read_by_duckdb)]
    assert found[0] == found[1]
    return found[0]


def test_small_files_of_a_bucket_become_one(rounds: Rounds) -> None:
    """In the order of the log; the other bucket is left alone; the table still knows how far it is."""
    before, latest = ids(rounds), rounds.table.latest()
    assert compact(pyiceberg_table(rounds.warehouse), INFO) == CompactionResult(ROUNDS, 1)
    table = pyiceberg_table(rounds.warehouse)
    assert table.inspect.files().num_rows == 2
    assert table.current_snapshot().summary.operation.value == "replace"
    assert ids(rounds) == before
    rows = [row for row in read_by_pyiceberg(rounds.warehouse) if row["__bucket"] == 0]
    assert [row["__offset"] for row in rows] == list(range(ROUNDS))
    assert rounds.table.latest() == latest
    assert compact(table, INFO) == CompactionResult(0, 0)


def test_a_round_may_come_while_files_are_rewritten(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is committed, and the compaction on top of it."""
    rewritten = compaction._rewrite_files

    def slowly(*arguments: object) -> object:
        rounds.round({LakePlace(0): [{"id": 100}]})
        return rewritten(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compaction, "_rewrite_files", slowly)
    assert compact(pyiceberg_table(rounds.warehouse), INFO) == CompactionResult(ROUNDS, 1)
    assert ids(rounds) == [-1, *range(ROUNDS), 100]
    latest = rounds.table.latest()
    assert latest is not None
    assert latest.offsets == rounds.offsets


def test_files_may_be_rewritten_while_a_round_is_written(rounds: Rounds) -> None:
    """A round only adds; it is committed on top."""
    written = rounds.write({LakePlace(0): [{"id": 200}]})
    assert compact(pyiceberg_table(rounds.warehouse), INFO) == CompactionResult(ROUNDS, 1)
    rounds.commit(written)
    assert ids(rounds) == [-1, *range(ROUNDS), 200]


def test_whoever_replaces_a_file_first_wins(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second compaction is given up, and leaves no file."""
    rewritten, first = compaction._rewrite_files, [True]

    def overtaken(*arguments: object) -> object:
        if first.pop():
            first.append(False)
            compact(pyiceberg_table(rounds.warehouse), INFO)
        return rewritten(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compaction, "_rewrite_files", overtaken)
    with pytest.raises(LakeConflictError, match="overtaken"):
        compact(pyiceberg_table(rounds.warehouse), INFO)
    assert ids(rounds) == [-1, *range(ROUNDS)]
    assert rounds.table.orphans(10**13) == []  # type: ignore[attr-defined]


def test_the_table_keeps_house(rounds: Rounds) -> None:
    """Compacted, expired and cleaned by one door; rows and offsets stay."""
    table = rounds.table
    assert isinstance(table, KeepsHouse)
    assert table.compact() == ROUNDS
    rounds.round({LakePlace(0): [{"id": 50}]})
    assert table.expire(10**13) > 5
    left = len(list(rounds.warehouse.rglob("*.parquet")))
    assert left == 3, "the files of before the compaction are gone with their snapshots"
    table.remove(table.orphans(10**13))
    assert ids(rounds) == sorted([-1, *range(ROUNDS), 50])
    assert table.latest().offsets == rounds.offsets  # type: ignore[union-attr]
