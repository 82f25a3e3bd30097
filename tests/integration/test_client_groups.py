"""Consumer groups on a running server: through the client and through the command line."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_process import Cli
from server_process import ServerProcess

import lakeward
from lakeward import BucketId
from lakeward.client.blocking.groups import OFFSETS_TABLE, ConsumerGroups
from lakeward.errors import InvalidError


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[lakeward.Connection]:
    """A connection to the session's server."""
    with lakeward.connect(server.bootstrap) as opened:
        yield opened


@pytest.fixture
def orders(conn: lakeward.Connection, database: str) -> lakeward.Table:
    """A log table of two buckets with ten rows."""
    table = conn.create_table(f"{database}.orders", "id BIGINT, item STRING", buckets=2, bucket_by=["id"])
    table.append([{"id": i, "item": "x"} for i in range(10)])
    return table


@pytest.fixture
def cli(server: ServerProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The command line, pointed at the session's server."""
    monkeypatch.chdir(tmp_path)
    return Cli(server.bootstrap, tmp_path)


def test_offsets_are_kept_by_group_table_and_bucket(
    conn: lakeward.Connection, orders: lakeward.Table, database: str
) -> None:
    """A commit replaces its own buckets only, is seen on another connection's side, and other groups have none."""
    groups = ConsumerGroups(conn)
    group = f"{database}-a"
    assert groups.committed(group, orders.path) == {}
    groups.commit(group, orders.path, {BucketId(None, 0): 3, BucketId(None, 1): 1})
    groups.commit(group, str(orders.path), {BucketId(None, 1): 2})
    assert ConsumerGroups(conn).committed(group, orders.path) == {BucketId(None, 0): 3, BucketId(None, 1): 2}
    assert groups.committed(f"{database}-b", orders.path) == {}
    mine = [g for g in groups.groups() if g.name == group]
    assert [(g.tables, g.buckets) for g in mine] == [((str(orders.path),), 2)]
    assert str(conn.table(OFFSETS_TABLE).path) == OFFSETS_TABLE


def test_lag_counts_rows_ahead_and_buckets_without_a_commit(
    conn: lakeward.Connection, orders: lakeward.Table, database: str
) -> None:
    """What was never committed is all ahead."""
    ends = orders.offsets("latest")
    groups = ConsumerGroups(conn)
    groups.commit(database, orders.path, {BucketId(None, 0): 1})
    first, second = groups.describe(database)
    assert (first.bucket, first.next_offset, first.lag) == (BucketId(None, 0), 1, ends[BucketId(None, 0)] - 1)
    assert (second.next_offset, second.lag, second.committed_at) == (None, ends[BucketId(None, 1)], None)


def test_a_group_is_moved(conn: lakeward.Connection, orders: lakeward.Table, database: str) -> None:
    """To either end, to a time, or to an offset, which is moved into the log; some buckets or all."""
    groups = ConsumerGroups(conn)
    ends = orders.offsets("latest")
    assert groups.reset(database, orders.path, "latest") == ends
    assert sum(b.lag or 0 for b in groups.describe(database)) == 0
    assert groups.reset(database, orders.path, 10**12, buckets=[1]) == {BucketId(None, 1): ends[BucketId(None, 1)]}
    assert groups.reset(database, orders.path, datetime(2020, 1, 1, tzinfo=UTC)) == dict.fromkeys(ends, 0)
    assert groups.committed(database, orders.path) == dict.fromkeys(ends, 0)
    with pytest.raises(InvalidError, match="no such bucket"):
        groups.reset(database, orders.path, "latest", buckets=[7])


def test_a_table_created_again_begins_anew(conn: lakeward.Connection, orders: lakeward.Table, database: str) -> None:
    """Offsets of the table that was dropped are not taken for those of the new one; until then they show no lag."""
    groups = ConsumerGroups(conn)
    groups.reset(database, orders.path, "latest")
    conn.drop_table(str(orders.path))
    assert [(b.latest, b.lag) for b in groups.describe(database)] == [(None, None), (None, None)]
    conn.create_table(str(orders.path), "id BIGINT, item STRING", buckets=1)
    assert groups.committed(database, orders.path) == {}
    assert [(b.next_offset, b.lag) for b in groups.describe(database)] == [(None, 0)]


def test_partitions_are_named(conn: lakeward.Connection, database: str) -> None:
    """Buckets of partitions keep their own offsets; new partitions show up without a commit."""
    table = conn.create_table(f"{database}.days", "id BIGINT, dt STRING", partition_by=["dt"], buckets=1)
    table.append([{"id": 1, "dt": "a"}, {"id": 2, "dt": "b"}, {"id": 3, "dt": "b"}])
    groups = ConsumerGroups(conn)
    assert groups.reset(database, table.path, "latest", partitions=["b"]) == {BucketId("b", 0): 2}
    assert [(str(b.bucket), b.next_offset, b.lag) for b in groups.describe(database)] == [
        ("a/0", None, 1),
        ("b/0", 2, 0),
    ]


def test_a_group_is_forgotten(conn: lakeward.Connection, orders: lakeward.Table, database: str) -> None:
    """As a whole; a second time there is nothing, which is said."""
    groups = ConsumerGroups(conn)
    groups.reset(database, orders.path, "earliest")
    assert groups.delete(database, orders.path) == 2
    with pytest.raises(InvalidError, match=f"Group '{database}' has committed nothing"):
        groups.delete(database)
    with pytest.raises(InvalidError, match="needs a name"):
        groups.commit(" ", orders.path, {BucketId(None, 0): 1})


def test_the_command_line_shows_and_moves_groups(cli: Cli, orders: lakeward.Table, database: str) -> None:
    """list, describe with lag per bucket, reset in each way, delete."""
    table = str(orders.path)
    moved = cli.document("groups", "reset", database, table, "--to-offset", "1")
    assert moved == [{"partition": None, "bucket": n, "offset": 1} for n in (0, 1)]
    ends = {b.bucket: end for b, end in orders.offsets("latest").items()}
    described = cli.document("groups", "describe", database)
    assert [(b["bucket"], b["committed"], b["lag"]) for b in described] == [(n, 1, ends[n] - 1) for n in (0, 1)]
    text = cli.ok("groups", "describe", database).splitlines()
    assert text[0].split() == ["TABLE", "BUCKET", "COMMITTED", "LATEST", "LAG", "LAST", "COMMIT"]
    assert text[1].split()[:5] == [table, "0", "1", str(ends[0]), str(ends[0] - 1)]
    listed = {g["group"]: g for g in cli.document("groups", "list")}
    assert listed[database]["tables"] == [table]
    cli.ok("groups", "reset", database, table, "--to-timestamp", "2020-01-01T00:00:00Z", "--bucket", "1")
    cli.ok("groups", "reset", database, table, "--to-latest", "--bucket", "0")
    described = cli.document("groups", "describe", database)
    assert [b["committed"] for b in described] == [ends[0], 0]
    cli.ok("groups", "delete", database, "--yes")
    gone = cli.run("groups", "describe", database)
    assert (gone.returncode, "has committed nothing" in gone.stderr) == (1, True)


@pytest.mark.parametrize("where", [(), ("--to-earliest", "--to-offset", "1")])
def test_a_reset_wants_one_place(cli: Cli, where: tuple[str, ...]) -> None:
    """None or two of the options are a wrong command line."""
    wrong = cli.run("groups", "reset", "g", "shop.orders", *where)
    assert (wrong.returncode, "one of --to-earliest" in wrong.stderr) == (2, True)
