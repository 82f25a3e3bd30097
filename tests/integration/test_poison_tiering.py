"""Tiering and consumer groups at bad batches: the bucket stops and says so, or goes past them on purpose."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_process import Cli
from lake_tables import read_by_pyiceberg
from poison import COLUMNS, bury, good_rows, sealed
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.client.blocking.groups import ConsumerGroups
from lakeward.client.forms.results import BucketId
from lakeward.errors import CorruptError

KIND = "bytes that are not UTF-8"
LETTERS = "bad.letters"
pytestmark = pytest.mark.slow


@pytest.fixture
def lake(tmp_path: Path) -> Iterator[Warehouse]:
    """A server whose table bad.t has poison in bucket 0 between good rows, and good rows in bucket 1."""
    with ServerProcess(tmp_path / "data") as server:
        with lakeward.connect(server.bootstrap) as conn:
            conn.create_database("bad")
            table = conn.create_table("bad.t", COLUMNS, buckets=2, bucket_by=["id"], properties=TIERED)
            table.append(good_rows(0, 40))
        server.stop()
        bury(server.data_dir, "bad.t", KIND)
        server.start()
        warehouse = Warehouse(server.bootstrap, tmp_path / "warehouse")
        warehouse.conn.table("bad.t").append(good_rows(100, 40))
        yield warehouse
        warehouse.close()


def in_lake(lake: Warehouse) -> list[int]:
    """The ids that are in the lake."""
    return sorted(row["id"] for row in read_by_pyiceberg(lake.directory, "bad.t"))


def behind(lake: Warehouse) -> list[int]:
    """The ids that lie behind the poison."""
    start, _ = bad_range(lake)
    rows = lake.conn.table("bad.t").scan(metadata_columns=True, skip_damaged=True).to_arrow().to_pylist()
    return sorted(row["id"] for row in rows if row["_bucket"] == 0 and row["_offset"] > start)


def bad_range(lake: Warehouse) -> tuple[int, int]:
    """The offsets of the poison."""
    scan = lake.conn.table("bad.t").scan(skip_damaged=True)
    scan.to_arrow()
    (one,) = scan.left_out
    return one.start, one.stop


ALL = [*range(40), *range(100, 140)]


def test_a_bucket_stops_at_damage_and_the_others_go_on(lake: Warehouse) -> None:
    """What lies before the damage and in other buckets is in the lake; then a round is an error, not an endless one."""
    table = lake.conn.table("bad.t")
    report = lake.round(table)
    assert len(report.stopped) == 1
    assert f"bad.t, bucket 0, offsets {bad_range(lake)[0]}" in report.stopped[0]
    assert in_lake(lake) == sorted(set(ALL) - set(behind(lake)))
    with pytest.raises(CorruptError, match=r"bad\.t, bucket 0, offsets .* cannot be read"):
        lake.round(table)
    assert in_lake(lake) == sorted(set(ALL) - set(behind(lake)))


def test_a_bad_batch_goes_to_the_dead_letters_as_it_is(lake: Warehouse) -> None:
    """Its bytes and the reason; all other rows are in the lake."""
    lake.conn.alter_table("bad.t", set={"lakeward.tiering.dead-letter-table": LETTERS})
    report = lake.round(lake.conn.table("bad.t"))
    assert (report.dead_letters, report.stopped) == (1, ())
    assert in_lake(lake) == ALL
    (letter,) = lake.conn.table(LETTERS).snapshot().to_pylist()
    start, stop = bad_range(lake)
    told = json.loads(letter["row_json"])
    assert (letter["row_bucket"], letter["row_offset"], told["offsets"]) == (0, start, [start, stop - 1])
    stored = base64.b64decode(told["batch_base64"])
    assert stored[48:] == sealed(KIND)[48:]
    assert "UTF8" in letter["reason"]


def test_tiering_passes_what_it_is_told_to_skip(lake: Warehouse) -> None:
    """`lakeward skip` names the range; the next round goes on after it, once."""
    table = lake.conn.table("bad.t")
    lake.round(table)
    start, stop = bad_range(lake)
    done = Cli(lake.bootstrap, lake.directory.parent).run("skip", "bad.t", "0", str(start), "--yes")
    assert done.returncode == 0, done.stderr
    report = lake.round(lake.conn.table("bad.t"))
    assert any(f"0:{start}-{stop}" in line for line in report.left_out)
    assert in_lake(lake) == ALL
    assert "lakeward.tiering.skip-damaged" not in lake.conn.table("bad.t").info.descriptor.custom_properties


def test_what_can_be_read_is_not_skipped(lake: Warehouse) -> None:
    """A wrong offset is refused, and says so."""
    done = Cli(lake.bootstrap, lake.directory.parent).run("skip", "bad.t", "0", "0", "--yes")
    assert done.returncode == 1
    assert "offset 0 can be read, so nothing is skipped" in done.stderr


def test_a_group_passes_what_it_is_told_to_skip(lake: Warehouse) -> None:
    """A group that stands at the damage goes on after it; one that stands elsewhere is left alone."""
    start, stop = bad_range(lake)
    groups = ConsumerGroups(lake.conn)
    groups.commit("there", "bad.t", {BucketId(None, 0): start})
    groups.commit("elsewhere", "bad.t", {BucketId(None, 0): 0})
    assert (
        Cli(lake.bootstrap, lake.directory.parent)
        .run("skip", "bad.t", "0", str(start), "--group", "there", "-y")
        .returncode
        == 0
    )
    assert groups.committed("there", "bad.t") == {BucketId(None, 0): stop}
    refused = Cli(lake.bootstrap, lake.directory.parent).run(
        "skip", "bad.t", "0", str(start), "--group", "elsewhere", "-y"
    )
    assert refused.returncode == 1
    assert "groups reset elsewhere" in refused.stderr


def test_tail_and_sql_skip_when_they_are_told_to(lake: Warehouse) -> None:
    """Without the flag an error of one sentence; with it every other row, and a word on what is left out."""
    plain = Cli(lake.bootstrap, lake.directory.parent).run(
        "tail", "bad.t", "--from", "earliest", "--no-follow", "-o", "json"
    )
    assert plain.returncode == 1
    assert "bad.t, bucket 0, offsets" in plain.stderr
    assert "Traceback" not in plain.stderr
    flags = ("--from", "earliest", "--no-follow", "-o", "json", "--skip-damaged")
    skipped = Cli(lake.bootstrap, lake.directory.parent).run("tail", "bad.t", *flags)
    assert sorted(json.loads(line)["id"] for line in skipped.stdout.splitlines()) == ALL
    assert "left out" in skipped.stderr
    asked = Cli(lake.bootstrap, lake.directory.parent).run(
        "sql", "SELECT id, name FROM bad.t", "-o", "json", "--skip-damaged"
    )
    assert sorted(json.loads(line)["id"] for line in asked.stdout.splitlines()) == ALL
