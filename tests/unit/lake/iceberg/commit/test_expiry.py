"""Old snapshots expire with their files; files that nobody knows are found."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import pytest
from lake_tables import Rounds, pyiceberg_table, read_by_duckdb, table_info

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.formats import lake_format
from lakeward.lake.iceberg.commit.expiry import ExpiryResult, expire, orphans
from lakeward.lake.port import LakePlace

LATER_MS = 10**13
DAY_MS = 86_400_000


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A primary key table with three rounds; the second and third replace rows of the first."""
    made = Rounds(lake_format("iceberg"), tmp_path, table_info({"id": "BIGINT NOT NULL"}, key="id", buckets=1))
    for _ in range(3):
        made.round({LakePlace(0): [{"id": 1}, {"id": 2}]})
    return made


def files(rounds: Rounds) -> set[Path]:
    """Data and manifests."""
    return {p for kind in ("*.parquet", "*.avro") for p in rounds.warehouse.rglob(kind)}


def test_young_snapshots_stay(rounds: Rounds) -> None:
    """Five days, if the table says nothing."""
    table = pyiceberg_table(rounds.warehouse)
    before = files(rounds)
    assert expire(table, table.snapshots()[0].timestamp_ms + DAY_MS) == ExpiryResult(0, 0)
    assert files(rounds) == before


def test_old_snapshots_go_with_what_only_they_need(rounds: Rounds) -> None:
    """The newest stays whole, and says how far it is."""
    table = pyiceberg_table(rounds.warehouse)
    before = files(rounds)
    expired = expire(table, LATER_MS)
    assert expired.snapshots == 2
    assert len(before - files(rounds)) == expired.files == 2, "their manifest lists; all else is still needed"
    latest = rounds.table.latest()
    assert latest is not None
    assert latest.offsets == rounds.offsets
    assert sorted(row["id"] for row in read_by_duckdb(rounds.warehouse)) == [1, 2]


def test_what_readers_use_is_kept(rounds: Rounds) -> None:
    """And a table can ask for more."""
    table = pyiceberg_table(rounds.warehouse)
    oldest = table.snapshots()[0].snapshot_id
    assert expire(table, LATER_MS, keep=[oldest]).snapshots == 1
    with table.transaction() as change:
        change.set_properties({"history.expire.min-snapshots-to-keep": "2"})
    assert expire(table, LATER_MS).snapshots == 0


def test_the_newest_round_is_never_expired(rounds: Rounds) -> None:
    """Even when others have written since: what is in the lake is known by it alone."""
    table = pyiceberg_table(rounds.warehouse)
    latest = rounds.table.latest()
    for _ in range(2):
        table.append(table.scan().to_arrow().slice(0, 0))
    expire(table, LATER_MS)
    assert rounds.table.latest() == latest


def test_files_of_a_round_that_was_never_committed_are_orphans(rounds: Rounds) -> None:
    """Only ours, only old ones, and never one that a snapshot needs."""
    known = files(rounds)
    rounds.write({LakePlace(0): [{"id": 3}]})
    table = pyiceberg_table(rounds.warehouse)
    stray = files(rounds) - known
    assert len(stray) == 1
    folder = next(iter(stray)).parent
    (folder / "notes.parquet").write_bytes(b"somebody else's")
    assert {Path(p) for p in orphans(table, LATER_MS)} == stray
    assert orphans(table, 1000) == []
    for path in stray:
        os.utime(path, (0, 0))
    assert {Path(p) for p in orphans(table, 1000)} == stray


def test_another_engines_expiry_leaves_the_newest_round(rounds: Rounds) -> None:
    """It is tagged, so that it is found when all between it and the head is gone."""
    table = pyiceberg_table(rounds.warehouse)
    latest = rounds.table.latest()
    for _ in range(3):
        table.append(table.scan().to_arrow().slice(0, 0))
    with table.maintenance.expire_snapshots() as theirs:
        theirs.older_than(datetime(2100, 1, 1))
    assert len(table.refresh().snapshots()) == 2
    assert rounds.table.latest() == latest
    rounds.round({LakePlace(0): [{"id": 3}]})
    assert sorted(row["id"] for row in read_by_duckdb(rounds.warehouse)) == [1, 2, 3]


def test_a_table_that_lost_its_rounds_is_not_begun_anew(rounds: Rounds) -> None:
    """Its rows would be there twice."""
    table = pyiceberg_table(rounds.warehouse)
    table.append(table.scan().to_arrow().slice(0, 0))
    table.manage_snapshots().remove_tag("lakeward-tiering").commit()
    with table.maintenance.expire_snapshots() as theirs:
        theirs.older_than(datetime(2100, 1, 1))
    with pytest.raises(LakewardError, match="no longer has the snapshot") as wrong:
        rounds.table.latest()
    assert wrong.value.code is ErrorCode.LAKE_SNAPSHOT_NOT_EXIST
