"""Files of Paimon that share keys and files that stand alone, side by side: one table, as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.query.plan.planner import plan_read
from lakeward.query.request.request import ReadRequest

pytestmark = pytest.mark.slow

Step = tuple[str, range, range]
#: Rounds: ids that are put and ids that are deleted, by part.
_ROUNDS: tuple[tuple[Step, ...], ...] = (
    (("alone", range(100), range(0)), ("shared", range(100), range(0)), ("both", range(100), range(0))),
    (("alone", range(200, 300), range(0)), ("both", range(200, 300), range(0))),
    (("shared", range(50, 120), range(10)), ("both", range(60, 70), range(5, 15))),
    (("shared", range(5, 8), range(55, 60)), ("both", range(7, 9), range(61, 63))),
    (("alone", range(400, 420), range(0)), ("both", range(400, 420), range(0))),
)
#: What comes after them, and stays in the log: keys of every kind of file, some that were deleted, some new.
_HOT: tuple[Step, ...] = (
    ("alone", range(210, 220), range(400, 405)),
    ("shared", range(3), range(100, 110)),
    ("both", range(290, 310), range(60, 62)),
    ("both", range(10, 12), range(400, 401)),
)


class Told:
    """A table, and what it must say."""

    def __init__(self, table: lakeward.Table) -> None:
        self.table = table
        self.rows: dict[tuple[int, str], str] = {}
        self._writes = 0

    def apply(self, step: Step) -> None:
        """Put and delete, there and here."""
        part, put, gone = step
        self._writes += 1
        text = f"write {self._writes}"
        self.table.upsert([{"id": i, "part": part, "text": f"{text} of {i}"} for i in put])
        self.rows |= {(i, part): f"{text} of {i}" for i in put}
        if gone:
            self.table.delete([{"id": i, "part": part} for i in gone])
        for i in gone:
            self.rows.pop((i, part), None)

    def want(self) -> list[tuple[Any, ...]]:
        """All rows, by part and key."""
        return sorted((part, i, text) for (i, part), text in self.rows.items())


@pytest.fixture
def lake(server: ServerProcess, tmp_path: Path) -> Iterator[Warehouse]:
    """A warehouse whose connection knows it."""
    opened = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
    yield opened
    opened.close()


@pytest.fixture
def told(lake: Warehouse, database: str) -> Told:
    """A Paimon table by key, of three parts with one bucket each."""
    table = lake.conn.create_table(
        f"{database}.overlaps",
        "id BIGINT NOT NULL, part STRING NOT NULL, text STRING",
        primary_key=["id", "part"],
        partition_by=["part"],
        buckets=1,
        properties={**TIERED, "table.datalake.format": "paimon"},
    )
    for part in ("alone", "shared", "both"):
        table.create_partition({"part": part})
    return Told(table)


def asked(lake: Warehouse, name: str, where: str = "true") -> list[tuple[Any, ...]]:
    """What DuckDB says of the table, by part and key."""
    found = lake.conn.sql(f"SELECT part, id, text FROM {name} WHERE {where} ORDER BY part, id")
    return [(row["part"], row["id"], row["text"]) for row in found.to_pylist()]


def merged(lake: Warehouse, told: Told) -> dict[str | None, set[bool]]:
    """Whether files are merged, by part."""
    plan = plan_read(lake.conn, ReadRequest(told.table.path, options={"lake.warehouse": str(lake.directory)}))
    found: dict[str | None, set[bool]] = {}
    for split in plan.splits:
        found.setdefault(split.partition, set()).update(file.is_merged for file in split.files)
    return found


def test_rows_are_those_that_were_written_whatever_is_merged(lake: Warehouse, told: Told) -> None:
    """After every round, before and behind it; whole, in part, and counted; the lake alone, and with the log."""
    name = str(told.table.path)
    for steps in _ROUNDS:
        for step in steps:
            told.apply(step)
        assert asked(lake, name) == told.want()
        lake.round(told.table)
        assert asked(lake, name) == asked(lake, f'"{name}$lake"') == told.want()
    assert merged(lake, told) == {"alone": {False}, "shared": {True}, "both": {False, True}}
    cold = told.want()
    for step in _HOT:
        told.apply(step)
    want = told.want()
    assert want != cold
    assert asked(lake, name) == want
    assert asked(lake, f'"{name}$lake"') == cold
    assert asked(lake, name, "id BETWEEN 55 AND 215") == [row for row in want if 55 <= row[1] <= 215]
    assert asked(lake, name, "part = 'both'") == [row for row in want if row[0] == "both"]
    (counted,) = lake.conn.sql(f"SELECT count(*) AS n, sum(id) AS ids FROM {name}").to_pylist()
    assert counted == {"n": len(want), "ids": sum(row[1] for row in want)}
    lake.round(told.table)
    assert asked(lake, name) == asked(lake, f'"{name}$lake"') == want
