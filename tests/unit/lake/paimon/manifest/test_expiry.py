"""Old snapshots expire with their files; files that nobody knows are found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from lake_tables import Rounds, table_info
from paimon_readers import read_by_paimon_rust

from lakeward.lake.formats import lake_format
from lakeward.lake.paimon.manifest.expiry import ExpiryResult, expire, orphans
from lakeward.lake.paimon.schema.schema_file import newest_schema
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.lake.port import LakePlace

LATER_MS = 10**13
PLACE = LakePlace(0, ("x",))


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A primary key table with 24 rounds in a partition, files merged along the way."""
    info = table_info({"id": "BIGINT NOT NULL", "p": "STRING NOT NULL", "name": "STRING"}, buckets=1)
    schema = replace(info.schema, primary_key=("id", "p"))
    info = replace(info, descriptor=replace(info.descriptor, schema=schema, partition_keys=("p",)).normalize())
    made = Rounds(lake_format("paimon"), tmp_path, info)
    for number in range(24):
        made.round({PLACE: [{"id": i, "p": "x", "name": str(number), "_": "+U"} for i in (1, 2, number)]})
    return made


def shape(rounds: Rounds, **options: str) -> TableShape:
    """The table with these options."""
    directory = table(rounds)
    schema = newest_schema(directory)
    assert schema is not None
    schema.options.update({name.replace("__", ".").replace("_", "-"): value for name, value in options.items()})
    return TableShape.of(directory, schema, rounds.info)


def table(rounds: Rounds) -> Path:
    """The table's directory."""
    return rounds.warehouse / "shop.db" / "orders"


def files(rounds: Rounds) -> set[Path]:
    """Data, changelogs and manifests."""
    return {p for kind in ("*.parquet", "manifest-*") for p in rounds.warehouse.rglob(kind)}


def rows(rounds: Rounds) -> list[tuple[int, str]]:
    """What a reader sees."""
    return sorted((row["id"], row["name"]) for row in read_by_paimon_rust(rounds.warehouse))


def test_young_snapshots_stay(rounds: Rounds) -> None:
    """One hour, if the table says nothing."""
    before = files(rounds)
    latest = rounds.table.latest()
    assert latest is not None
    assert expire(shape(rounds), latest.committed_ms + 60_000) == ExpiryResult(0, 0)
    assert files(rounds) == before


def test_old_snapshots_go_with_what_only_they_need(rounds: Rounds) -> None:
    """The newest ten stay whole, rows and offsets as before, and no file is left behind."""
    before, seen = files(rounds), rows(rounds)
    expired = expire(shape(rounds), LATER_MS)
    snapshots = sorted((rounds.warehouse / "shop.db" / "orders" / "snapshot").glob("snapshot-*"))
    assert len(snapshots) == 10
    assert expired.files == len(before - files(rounds)) > 50
    assert rows(rounds) == seen
    assert orphans(table(rounds), LATER_MS) == []
    latest = rounds.table.latest()
    assert latest is not None
    assert latest.offsets == rounds.offsets
    rounds.round({PLACE: [{"id": 1, "p": "x", "name": "after", "_": "+U"}]})
    assert rows(rounds)[1] == (1, "after")


def test_what_readers_use_is_kept(rounds: Rounds) -> None:
    """Snapshots from the first that somebody needs on: a query's, a consumer's, or all where a branch is."""
    assert expire(shape(rounds), LATER_MS, keep=[1]) == ExpiryResult(0, 0)
    directory = table(rounds)
    (directory / "consumer").mkdir()
    (directory / "consumer" / "consumer-ann").write_text('{"nextSnapshot": 3}')
    assert expire(shape(rounds), LATER_MS).snapshots == 2
    (directory / "branch").mkdir()
    (directory / "consumer" / "consumer-ann").unlink()
    assert expire(shape(rounds), LATER_MS) == ExpiryResult(0, 0)


def test_a_table_may_keep_fewer(rounds: Rounds) -> None:
    """By Paimon's own options; the newest always stays."""
    expire(shape(rounds, snapshot__num_retained__min="1"), LATER_MS)
    assert len(list(rounds.warehouse.rglob("snapshot-*"))) == 1
    assert len(rows(rounds)) == 24


def test_files_of_a_round_that_died_are_found_when_they_are_old(rounds: Rounds) -> None:
    """Nothing else is: not what is young, not what is live, not what others put there."""
    live = files(rounds)
    rounds.write({PLACE: [{"id": 99, "p": "x"}]})
    lost = files(rounds) - live
    (rounds.warehouse / "shop.db" / "orders" / "p=x" / "bucket-0" / "notes.parquet").write_bytes(b"")
    assert len(lost) >= 2
    assert orphans(table(rounds), 0) == []
    for path in lost:
        os.utime(path, (1, 1))
    assert set(orphans(table(rounds), 2000)) == lost
