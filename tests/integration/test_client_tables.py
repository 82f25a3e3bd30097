"""Databases, tables, partitions and options through the Python API."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from client_rows import fresh

import lakeward


@pytest.fixture(scope="module")
def conn(server: Any) -> Iterator[lakeward.Connection]:
    """A connection."""
    with lakeward.connect(server.bootstrap) as made:
        yield made


@pytest.fixture
def database(conn: lakeward.Connection) -> Iterator[str]:
    """A database of the test's own."""
    name = fresh("client_tables")
    conn.create_database(name)
    yield name
    conn.drop_database(name, cascade=True)


def test_a_database_lives_and_dies(conn: lakeward.Connection) -> None:
    """Created, listed, described, dropped."""
    name = fresh("client_db")
    conn.create_database(name, comment="a comment", properties={"owner": "me"})
    assert name in conn.databases()
    info = conn.database(name)
    assert (info.name, info.comment, info.properties) == (name, "a comment", {"owner": "me"})
    assert info.created_ms > 0
    with pytest.raises(lakeward.AlreadyExistsError):
        conn.create_database(name)
    conn.create_database(name, exist_ok=True)
    conn.drop_database(name)
    with pytest.raises(lakeward.NotFoundError):
        conn.database(name)
    with pytest.raises(lakeward.NotFoundError):
        conn.drop_database(name)
    conn.drop_database(name, missing_ok=True)


def test_a_full_database_is_dropped_only_with_cascade(conn: lakeward.Connection) -> None:
    """Data is not lost by accident."""
    name = fresh("client_db")
    conn.create_database(name)
    conn.create_table(f"{name}.t", "id INT")
    with pytest.raises(lakeward.InvalidError) as caught:
        conn.drop_database(name)
    assert caught.value.code is lakeward.ErrorCode.DATABASE_NOT_EMPTY
    conn.drop_database(name, cascade=True)
    assert name not in conn.databases()


@pytest.mark.parametrize(
    "schema",
    [
        "id BIGINT, name STRING",
        {"id": "BIGINT", "name": "STRING"},
        pa.schema([("id", pa.int64()), ("name", pa.string())]),
    ],
    ids=["text", "dict", "arrow"],
)
def test_a_table_is_what_was_asked_for(conn: lakeward.Connection, database: str, schema: Any) -> None:
    """Schema, keys, buckets, properties and comment come back as they went in."""
    table = conn.create_table(
        f"{database}.t",
        schema,
        bucket_by=["id"],
        buckets=3,
        properties={"table.log.ttl": "3 d"},
        custom_properties={"team": "data"},
        comment="rows",
    )
    assert str(table.path) == f"{database}.t"
    assert table.schema == pa.schema([("id", pa.int64()), ("name", pa.string())])
    descriptor = table.info.descriptor
    assert (descriptor.bucket_keys, descriptor.bucket_count, descriptor.comment) == (("id",), 3, "rows")
    assert descriptor.properties["table.log.ttl"] == "3 d"
    assert descriptor.custom_properties["team"] == "data"
    assert conn.tables(database) == ["t"]
    assert conn.has_table(f"{database}.t")


def test_a_table_that_is_not_there_is_an_error_unless_that_is_fine(conn: lakeward.Connection, database: str) -> None:
    """NotFoundError where it matters, False and silence where it was asked for."""
    assert not conn.has_table(f"{database}.nope")
    conn.drop_table(f"{database}.nope", missing_ok=True)
    with pytest.raises(lakeward.NotFoundError):
        conn.table(f"{database}.nope")
    with pytest.raises(lakeward.NotFoundError):
        conn.drop_table(f"{database}.nope")
    with pytest.raises(lakeward.NotFoundError):
        conn.tables(fresh("nowhere"))


def test_a_table_that_is_there_is_an_error_unless_that_is_fine(conn: lakeward.Connection, database: str) -> None:
    """The same for creating."""
    first = conn.create_table(f"{database}.t", "id INT")
    with pytest.raises(lakeward.AlreadyExistsError):
        conn.create_table(f"{database}.t", "id INT")
    again = conn.create_table(f"{database}.t", "id INT", exist_ok=True)
    assert again.info.table_id == first.info.table_id


def test_altering_properties_and_columns(conn: lakeward.Connection, database: str) -> None:
    """Properties are set and reset; columns are added at the end; `refresh` shows it."""
    table = conn.create_table(f"{database}.t", "id INT")
    conn.alter_table(f"{database}.t", set={"color": "red"}, add_columns="note STRING, n BIGINT")
    table.refresh()
    assert table.schema.names == ["id", "note", "n"]
    assert table.info.schema_id > 1
    assert table.info.descriptor.custom_properties["color"] == "red"
    conn.alter_table(f"{database}.t", reset=["color"])
    table.refresh()
    assert "color" not in table.info.descriptor.custom_properties


def test_an_unknown_property_is_refused(conn: lakeward.Connection, database: str) -> None:
    """A misspelled property does not pass silently."""
    with pytest.raises(lakeward.InvalidError) as caught:
        conn.create_table(f"{database}.t", "id INT", properties={"table.log.tttl": "1 d"})
    assert caught.value.code is lakeward.ErrorCode.INVALID_CONFIG


def test_partitions_come_and_go(conn: lakeward.Connection, database: str) -> None:
    """Created, listed by name and values, dropped."""
    table = conn.create_table(f"{database}.p", "id INT, dt STRING, region STRING", partition_by=["dt", "region"])
    spec = {"region": "EMEA", "dt": "2024-01-15"}
    assert table.partitions() == []
    table.create_partition(spec)
    (partition,) = table.partitions()
    assert (partition.name, partition.spec) == ("2024-01-15$EMEA", spec)
    with pytest.raises(lakeward.AlreadyExistsError):
        table.create_partition(spec)
    table.create_partition(spec, exist_ok=True)
    table.drop_partition(spec)
    with pytest.raises(lakeward.NotFoundError):
        table.drop_partition(spec)
    table.drop_partition(spec, missing_ok=True)
    with pytest.raises(lakeward.InvalidError):
        table.create_partition({"dt": "2024-01-15"})


def test_a_partition_that_another_has_dropped_is_read_as_gone_and_written_anew(
    server: Any, conn: lakeward.Connection, database: str
) -> None:
    """A table that was open all the time knows the dropped one, and its successor is another."""
    table = conn.create_table(
        f"{database}.p",
        "p STRING, id INT, at INT",
        primary_key=["p", "id", "at"],
        partition_by=["p"],
        bucket_by=["id"],
    )
    keys = [("a", 1, 1), ("b", 1, 1)]
    table.upsert([{"p": p, "id": id_, "at": at} for p, id_, at in keys])
    with lakeward.connect(server.bootstrap) as other:
        elsewhere = other.table(f"{database}.p")
        for look_up in (lambda: table.lookup(keys, missing="drop"), lambda: table.lookup_prefix([k[:2] for k in keys])):
            assert look_up()["p"].to_pylist() == ["a", "b"]
            elsewhere.drop_partition({"p": "a"})
            assert look_up()["p"].to_pylist() == ["b"]
            elsewhere.upsert([{"p": "a", "id": 1, "at": 1}])
            assert look_up()["p"].to_pylist() == ["a", "b"]
        for _ in range(2):
            elsewhere.drop_partition({"p": "a"})
            with pytest.raises(lakeward.NotFoundError, match="partition"):
                table.upsert([{"p": "a", "id": 2, "at": 2}])
            table.upsert([{"p": "a", "id": 2, "at": 2}])
            assert table.lookup(("a", 2, 2))["id"].to_pylist() == [2]


def test_rows_that_wait_while_their_partition_is_dropped_are_told(conn: lakeward.Connection, database: str) -> None:
    """They are not sent any more, nor is a new partition made of them that nobody asked for."""
    table = conn.create_table(f"{database}.p", "id INT, p STRING", partition_by=["p"])
    writer = table.writer(linger_ms=60_000)
    writer.write([{"id": 1, "p": "a"}])
    table.drop_partition({"p": "a"})
    with pytest.raises(lakeward.NotFoundError, match="no partition a any more"):
        writer.close()
    assert table.partitions() == []


def test_a_plain_table_has_no_partitions(conn: lakeward.Connection, database: str) -> None:
    """Asking for them is an error that says so."""
    table = conn.create_table(f"{database}.t", "id INT")
    with pytest.raises(lakeward.InvalidError, match="not partitioned"):
        table.partitions()


def test_the_cluster_shows_its_servers_and_options(conn: lakeward.Connection) -> None:
    """One coordinator, at least one tablet server, and options with their source."""
    roles = [s.role for s in conn.servers()]
    assert roles[0] == "coordinator"
    assert "tablet" in roles
    assert all(s.host and s.port for s in conn.servers())
    assert all(o.key and o.source for o in conn.cluster_options())


def test_an_option_nobody_knows_cannot_be_set(conn: lakeward.Connection) -> None:
    """The cluster refuses it and says why."""
    with pytest.raises(lakeward.LakewardError, match=r"no\.such\.option"):
        conn.set_cluster_options({"no.such.option": "1"})


def test_a_wrong_address_is_a_clear_error() -> None:
    """Nobody listens on port 1."""
    with pytest.raises(lakeward.RetriableError, match="Cannot connect to localhost:1"):
        lakeward.connect("localhost:1")


def test_a_closed_connection_says_so(server: Any) -> None:
    """Every later call fails at once; closing twice is harmless."""
    conn = lakeward.connect(server.bootstrap)
    conn.close()
    conn.close()
    with pytest.raises(lakeward.LakewardError, match="closed"):
        conn.databases()


@pytest.mark.parametrize(
    "ask",
    [
        lambda log, keyed: log.scan().to_arrow(),
        lambda log, keyed: log.count(),
        lambda log, keyed: next(log.scan(end=None).follow()),
        lambda log, keyed: keyed.lookup(1),
        lambda log, keyed: keyed.snapshot(),
    ],
    ids=["scan", "count", "follow", "lookup", "snapshot"],
)
def test_a_table_that_was_created_anew_is_not_waited_for(conn: lakeward.Connection, database: str, ask: Any) -> None:
    """Who still holds the one before hears what to do, as writers do, not of servers without leaders after a minute."""

    def create() -> tuple[lakeward.Table, lakeward.Table]:
        keyed = conn.create_table(f"{database}.keyed", "id BIGINT", primary_key="id")
        return conn.create_table(f"{database}.log", "id BIGINT"), keyed

    old = create()
    for table in old:
        conn.drop_table(str(table.path))
    create()
    with pytest.raises(lakeward.NotFoundError, match="dropped and created anew; open it again"):
        ask(*old)
