"""What rounds wrote of a partition whose name belongs to another one now is removed."""

from __future__ import annotations

from pathlib import Path

import pytest
from lake_tables import Rounds, pyiceberg_table, read_by_duckdb, read_by_pyiceberg, table_info

from lakeward.lake.formats import lake_format
from lakeward.lake.port import LakePlace

COLUMNS = {"id": "BIGINT NOT NULL", "dt": "STRING NOT NULL"}


@pytest.fixture
def rounds(tmp_path: Path) -> Rounds:
    """A table with rows of two rounds in two partitions."""
    made = Rounds(lake_format("iceberg"), tmp_path, table_info(COLUMNS, partitions=["dt"]))
    for first in (0, 5):
        made.round({LakePlace(0, (day,)): [{"id": first + i, "dt": day} for i in range(6)] for day in ("a", "b")})
    return made


def seen(rounds: Rounds, day: str) -> list[int]:
    """The ids of a partition, as all readers see them."""
    found = [
        sorted(row["id"] for row in read(rounds.warehouse) if row["dt"] == day)
        for read in (read_by_pyiceberg, read_by_duckdb)
    ]
    assert found[0] == found[1]
    return found[0]


def test_a_partition_goes_and_the_others_stay(rounds: Rounds) -> None:
    """The table still knows how far it is, and the next round goes on."""
    latest, before = rounds.table.latest(), seen(rounds, "b")
    assert rounds.table.forget({("a",), ("never",)}) > 0
    assert (seen(rounds, "a"), seen(rounds, "b")) == ([], before)
    assert rounds.table.latest() == latest
    assert rounds.table.forget({("a",)}) == 0
    rounds.round({LakePlace(0, ("a",)): [{"id": 3, "dt": "a"}]})
    assert (seen(rounds, "a"), seen(rounds, "b")) == ([3], before)


def test_what_people_have_loaded_stays(rounds: Rounds) -> None:
    """It was never the old partition's."""
    table = pyiceberg_table(rounds.warehouse)
    row = table.scan(limit=1).to_arrow().slice(0, 1)
    loaded = row.set_column(0, row.schema.field(0), [[99]]).set_column(1, row.schema.field(1), [["a"]])
    table.append(loaded)
    assert rounds.table.forget({("a",)}) > 0
    assert seen(rounds, "a") == [99]
