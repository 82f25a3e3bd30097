"""Ranges that a server has lost, seen by readers: fatal with the server's sentence, or left out on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from lake_tables import read_by_pyiceberg
from poison import COLUMNS, good_rows
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.cli.main import cli
from lakeward.errors import CorruptError
from lakeward.query.plan.planner import plan_read
from lakeward.query.read.read import read_splits
from lakeward.query.request.request import ReadRequest
from lakeward.records.batch.log_batch import walk_batches

WHOLE = [*range(12), *range(15, 18), *range(21, 30)]
RANGES = [(12, 15), (18, 21)]


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server, the log of whose table d.t lost two of its ten batches."""
    with ServerProcess(tmp_path / "data") as server:
        with lakeward.connect(server.bootstrap) as conn:
            conn.create_database("d")
            table = conn.create_table("d.t", COLUMNS, buckets=1, properties=TIERED)
            for first in range(0, 30, 3):
                table.append(good_rows(first))
        server.stop()
        (log,) = server.data_dir.glob("d/t-*/log-0/*.log")
        data = bytearray(log.read_bytes())
        for span in list(walk_batches(data)):
            if span.header.base_offset in {first for first, _ in RANGES}:
                data[span.end - 9] ^= 0xFF
        log.write_bytes(data)
        yield server.start()


@pytest.fixture
def lake(damaged: ServerProcess, tmp_path: Path) -> Iterator[Warehouse]:
    """That server and a lake."""
    warehouse = Warehouse(damaged.bootstrap, tmp_path / "warehouse")
    yield warehouse
    warehouse.close()


@pytest.mark.parametrize("columns", [None, ["id"]])
def test_a_damaged_range_ends_a_scan_with_the_servers_sentence(lake: Warehouse, columns: list[str] | None) -> None:
    """Whole rows or projected: at once, not after many questions."""
    with pytest.raises(CorruptError, match=r"d\.t, bucket 0, offset 12 cannot be read: .*lakeward repair"):
        lake.conn.table("d.t").scan(columns).to_arrow()


def test_ranges_are_left_out_by_intent(lake: Warehouse) -> None:
    """Exactly those, and the scan says so; a count agrees."""
    table = lake.conn.table("d.t")
    scan = table.scan(["id"], skip_damaged=True)
    assert scan.to_arrow().column("id").to_pylist() == WHOLE
    assert [(one.start, one.stop) for one in scan.left_out] == RANGES
    counted = table.query("SELECT count(*) AS n FROM t", {"scan.skip-damaged": "true"})
    assert counted.to_pylist() == [{"n": len(WHOLE)}]


def test_a_count_is_the_number_of_rows_or_an_error(damaged: ServerProcess) -> None:
    """Offsets are not rows where some are damaged, nor where they were given up; a limit counts rows."""
    with lakeward.connect(damaged.bootstrap) as conn:
        table = conn.table("d.t")
        assert len(table.scan(["id"], skip_damaged=True).to_arrow()) == len(WHOLE)  # somebody came across them
        for count in (table.count, lambda: table.query("SELECT count(*) AS n FROM t").to_pylist()):
            with pytest.raises(CorruptError, match=r"12.*lakeward repair"):
                count()
    damaged.stop()
    for first, end in RANGES:
        give = ["repair", "d.t", "0", str(first), str(end), "--data-dir", str(damaged.data_dir)]
        assert CliRunner().invoke(cli, give).exit_code == 0
    damaged.start()
    with lakeward.connect(damaged.bootstrap) as conn:
        table = conn.table("d.t")
        assert table.query("SELECT count(*) AS n FROM t").to_pylist() == [{"n": len(WHOLE)}]
        assert table.count() == len(WHOLE)
        some = ReadRequest.of_name("d.t", limit=20)
        assert sum(b.num_rows for b in read_splits(conn, some, plan_read(conn, some).splits)) == 20


def test_tiering_stops_at_a_lost_range_even_with_dead_letters(lake: Warehouse) -> None:
    """There are no bytes to put aside: somebody has to decide. What lies before it is in the lake."""
    lake.conn.alter_table("d.t", set={"lakeward.tiering.dead-letter-table": "d.letters"})
    report = lake.round(lake.conn.table("d.t"))
    assert len(report.stopped) == 1
    assert "offset 12 cannot be read" in report.stopped[0]
    assert sorted(row["id"] for row in read_by_pyiceberg(lake.directory, "d.t")) == list(range(12))
    with pytest.raises(CorruptError, match="offset 12 cannot be read"):
        lake.round(lake.conn.table("d.t"))
