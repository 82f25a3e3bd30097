"""lakeward copy between two servers: what is the same afterwards, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from copies import copy, log_of, run_copy, state_of
from eventually import eventually
from remote_tables import EAGER
from server_process import ServerProcess

import lakeward
from lakeward.client.blocking.sync import Connection
from lakeward.model.schema import Aggregate
from lakeward.model.type_text import parse_type

Start = Callable[..., ServerProcess]


@dataclass
class House:
    """Two servers, and a connection to each."""

    source: ServerProcess
    target: ServerProcess
    here: Connection
    there: Connection


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Two servers for all tests of this file."""
    root = tmp_path_factory.mktemp("house")
    with (
        ServerProcess(root / "source") as source,
        ServerProcess(root / "target") as target,
        lakeward.connect(source.bootstrap) as here,
        lakeward.connect(target.bootstrap) as there,
    ):
        here.create_database("shop")
        yield House(source, target, here, there)


def _rows(count: int, first: int = 0) -> pa.Table:
    return pa.table(
        {"id": pa.array(range(first, first + count), pa.int32()), "name": [f"name {i}" for i in range(count)]}
    )


_names = (f"shop.t{number}" for number in itertools.count())


@pytest.mark.covering("ZSTD")
@pytest.mark.parametrize("codec", ["NONE", "LZ4_FRAME", "ZSTD"])
def test_rows_of_a_log_have_the_same_offsets(house: House, codec: str) -> None:
    """Each bucket's rows, large and small batches alike, whatever they are compressed with."""
    name = next(_names)
    table = house.here.create_table(
        name, "id INT, name STRING", buckets=3, properties={"table.log.arrow.compression.type": codec}
    )
    table.append(_rows(20_000))
    for number in range(30):
        table.append([{"id": number, "name": None}])
    told = copy(house.source, house.target, name)[name]
    assert (told["rows"], told["copied_by"], told["offsets"], told["compared"]) == (20_030, "log", "same", "same")
    assert log_of(house.there, name) == log_of(house.here, name)
    properties = house.there.table(name).info.descriptor.properties
    assert properties["table.log.arrow.compression.type"] == codec


@pytest.mark.parametrize("log_format", ["INDEXED", "COMPACTED"])
def test_rows_of_other_formats_are_copied_as_they_are(house: House, log_format: str) -> None:
    """Nothing is decoded on the way."""
    name = next(_names)
    table = house.here.create_table(name, "id INT, name STRING", properties={"table.log.format": log_format})
    table.append(_rows(500))
    copy(house.source, house.target, name)
    assert log_of(house.there, name) == log_of(house.here, name)


def test_a_primary_key_table_has_the_same_changelog_and_state(house: House) -> None:
    """Inserts, updates, deletes, several changes of a key in one batch, and a delete of what is not there."""
    name = next(_names)
    table = house.here.create_table(name, "id INT NOT NULL, name STRING, PRIMARY KEY (id)", buckets=2)
    table.upsert(_rows(3_000))
    table.upsert([{"id": 1, "name": "a"}, {"id": 1, "name": "b"}, {"id": 1, "name": "b"}, {"id": 2, "name": None}])
    table.delete([{"id": i} for i in range(10, 60)])
    table.delete([{"id": 10_000}])
    table.upsert(_rows(20, first=10))
    told = copy(house.source, house.target, name)[name]
    assert (told["copied_by"], told["offsets"], told["compared"]) == ("changelog", "same", "same")
    assert log_of(house.there, name) == log_of(house.here, name)
    assert state_of(house.there, name) == state_of(house.here, name)
    assert house.there.table(name).lookup([{"id": 1}]).to_pylist() == [{"id": 1, "name": "b"}]


@pytest.mark.covering
@pytest.mark.parametrize(
    ("columns", "properties"),
    [
        ("id INT NOT NULL, name STRING, PRIMARY KEY (id)", {"table.merge-engine": "first_row"}),
        (
            "id INT NOT NULL, name STRING, v BIGINT, PRIMARY KEY (id)",
            {"table.merge-engine": "versioned", "table.merge-engine.versioned.ver-column": "v"},
        ),
        ("id INT NOT NULL, name STRING, PRIMARY KEY (id)", {"table.changelog.image": "wal"}),
        ("id INT NOT NULL, name STRING, PRIMARY KEY (id)", {"table.log.format": "COMPACTED"}),
    ],
)
def test_rows_that_an_engine_merged_are_not_merged_again(
    house: House, columns: str, properties: dict[str, str]
) -> None:
    """What the source made of its rows is what the target has."""
    name = next(_names)
    table = house.here.create_table(name, columns, properties=properties)
    for version in (3, 1, 2, 5):
        rows = _rows(200)
        if "v BIGINT" in columns:
            rows = rows.append_column("v", pa.array([version] * 200, pa.int64()))
        table.upsert(rows.set_column(1, "name", pa.array([f"v{version}"] * 200)))
    told = copy(house.source, house.target, name)[name]
    assert told["compared"] == "same"
    assert log_of(house.there, name) == log_of(house.here, name)
    assert state_of(house.there, name) == state_of(house.here, name)


def test_sums_are_not_added_up_twice(house: House) -> None:
    """Rows of an aggregating table go past the target's engine."""
    name = next(_names)
    schema = lakeward.Schema.of(
        [
            lakeward.Column("id", parse_type("INT NOT NULL")),
            lakeward.Column("n", parse_type("BIGINT"), aggregate=Aggregate("sum")),
        ],
        ("id",),
    )
    table = house.here.create_table(name, schema, properties={"table.merge-engine": "aggregation"})
    for _ in range(3):
        table.upsert([{"id": i, "n": 7} for i in range(10)])
    assert copy(house.source, house.target, name)[name]["compared"] == "same"
    assert state_of(house.there, name) == state_of(house.here, name)
    assert '"n": 21' in state_of(house.there, name)[0]
    house.there.table(name).upsert([{"id": 0, "n": 1}])
    assert '{"id": 0, "n": 22}' in state_of(house.there, name)


def test_partitions_and_columns_of_all_times_come_along(house: House) -> None:
    """A table that got columns twice, in partitions; batches keep the schema that they were written with."""
    name = next(_names)
    house.here.create_table(name, "id INT, dt STRING", partition_by=["dt"], buckets=2)
    house.here.table(name).append([{"id": i, "dt": f"2026-0{i % 3 + 1}"} for i in range(300)])
    house.here.alter_table(name, add_columns="price DOUBLE")
    house.here.table(name).append([{"id": 1, "dt": "2026-01", "price": 1.5}])
    house.here.alter_table(name, add_columns="a INT, b ROW<x INT, y STRING>")
    house.here.table(name).append([{"id": 2, "dt": "2026-04", "a": 3, "b": {"x": 1, "y": "z"}}])
    copy(house.source, house.target, name)
    assert log_of(house.there, name) == log_of(house.here, name)
    assert house.there.table(name).info.schema == house.here.table(name).info.schema
    assert house.there.table(name).info.schema_id == 3
    assert [p.name for p in house.there.table(name).partitions()] == ["2026-01", "2026-02", "2026-03", "2026-04"]


def test_a_second_copy_takes_only_what_came_since(house: House) -> None:
    """Rows, a partition and a column that came after the first copy."""
    name = next(_names)
    house.here.create_table(name, "id INT, dt STRING", partition_by=["dt"])
    house.here.table(name).append([{"id": i, "dt": "a"} for i in range(100)])
    assert copy(house.source, house.target, name)[name]["rows"] == 100
    late = copy(house.source, house.target, name, "--set", "table.log.ttl=1d")[name]
    assert late["rows"] == 0
    assert "--set table.log.ttl=1d has changed nothing" in late["notes"][0]
    house.here.alter_table(name, add_columns="x INT")
    house.here.table(name).append([{"id": i, "dt": "ab"[i % 2], "x": i} for i in range(50)])
    assert copy(house.source, house.target, name)[name]["rows"] == 50
    assert log_of(house.there, name) == log_of(house.here, name)


def test_tables_are_named_by_patterns_and_databases(house: House) -> None:
    """`db.` and `db.*` are all of a database; a name that fits nothing is told, with what there is."""
    house.here.create_database("own", comment="ours", exist_ok=True)
    for table in ("one", "two", "third"):
        house.here.create_table(f"own.{table}", "id INT", exist_ok=True, comment=f"{table}!").append([{"id": 1}])
    assert set(copy(house.source, house.target, "own.t*")) == {"own.two", "own.third"}
    assert set(copy(house.source, house.target, "own.")) == {"own.one", "own.two", "own.third"}
    assert house.there.database("own").comment == "ours"
    assert house.there.table("own.one").info.descriptor.comment == "one!"
    refused = run_copy(house.source, house.target, "own.four")
    assert refused.returncode == 1
    assert "has no table own.four; it has" in refused.stderr
    misspelt = run_copy(house.source, house.target, "own.thirt").stderr
    assert "it has own." in misspelt
    assert "shop." not in misspelt
    assert misspelt.rstrip().endswith("Did you mean own.third?")


def test_a_target_that_is_another_table_is_refused(house: House) -> None:
    """Other columns, rows of somebody else, more rows than the source: a sentence, and nothing is written."""
    name = next(_names)
    house.here.create_table(name, "id INT, name STRING").append(_rows(10))
    house.there.create_database("shop", exist_ok=True)
    house.there.create_table(name, "id INT, other STRING")
    refused = run_copy(house.source, house.target, name)
    assert refused.returncode == 1
    assert "is another table: columns: id INT, other STRING there" in refused.stderr.replace("\n", " ")
    house.there.drop_table(name)
    foreign = house.there.create_table(name, "id INT, name STRING")
    foreign.append(_rows(4))
    refused = run_copy(house.source, house.target, name)
    assert refused.returncode == 1
    assert "holds rows that are not the source's: bucket 0: its last batch" in refused.stderr
    foreign.append(_rows(400))
    refused = run_copy(house.source, house.target, name)
    assert "it ends at offset 404, the source at 10" in refused.stderr
    assert foreign.count() == 404


def test_a_table_with_ids_of_the_server_is_refused(house: House) -> None:
    """No client can give an AUTO_INCREMENT column its values."""
    name = next(_names)
    schema = lakeward.Schema.of([lakeward.Column("k", parse_type("STRING NOT NULL")), _bigint("n")], ("k",), ("n",))
    house.here.create_table(name, schema)
    refused = run_copy(house.source, house.target, name)
    assert refused.returncode == 1
    assert "column 'n' is filled by the server (AUTO_INCREMENT)" in refused.stderr


def _bigint(name: str) -> lakeward.Column:
    return lakeward.Column(name, parse_type("BIGINT NOT NULL"))


@pytest.mark.long
def test_verify_alone_finds_what_is_not_the_same(house: House) -> None:
    """Counts and checksums of each bucket; the exit code says it too."""
    name = next(_names)
    house.here.create_table(name, "id INT, name STRING").append(_rows(10))
    house.there.create_database("shop", exist_ok=True)
    missing = run_copy(house.source, house.target, name, "--verify")
    assert missing.returncode == 1
    assert f"has no table {name}" in missing.stderr
    house.there.create_table(name, "id INT, name STRING").append(_rows(10, first=5))
    differs = run_copy(house.source, house.target, name, "--verify")
    assert differs.returncode == 1
    assert (
        "10 rows in the source, 10 in the target, and they are not the same between offsets 0 and 1" in differs.stderr
    )
    house.there.drop_table(name)
    copy(house.source, house.target, name, "--no-verify")
    sums = copy(house.source, house.target, name, "--verify")[name]["sums"]
    assert [(s["source_rows"], s["target_rows"], s["where"]) for s in sums] == [(10, 10, None)]
    assert sums[0]["source_sum"] == sums[0]["target_sum"] != "0" * 16


def test_verify_finds_rows_that_only_one_side_has(house: House) -> None:
    """Rows of others behind the last one, another value of a key, rows not copied yet: each is told, with exit 1."""
    log, keyed, behind = next(_names), next(_names), next(_names)
    for name in (log, behind):
        house.here.create_table(name, "id INT, name STRING").append(_rows(10))
    house.here.create_table(keyed, "id INT NOT NULL, name STRING, PRIMARY KEY (id)").upsert(_rows(10))
    copy(house.source, house.target, log, keyed, behind)
    assert run_copy(house.source, house.target, log, keyed, behind, "--verify").returncode == 0
    house.there.table(log).append(_rows(4))
    house.there.table(keyed).upsert([{"id": 7, "name": "other"}])
    house.here.table(behind).append(_rows(3))
    for name, what in (
        (log, "it ends at offset 10 in the source, at 14 in the target: 4 rows that the source lacks"),
        (keyed, "it ends at offset 10 in the source, at 12 in the target: 2 rows that the source lacks"),
        (behind, "it ends at offset 13 in the source, at 10 in the target: 3 rows behind"),
    ):
        told = run_copy(house.source, house.target, name, "--verify")
        assert told.returncode == 1
        assert what in told.stderr
        assert "both sides are the same" not in told.stderr
        assert told.stdout.split()[-1] == "differs"


def test_an_address_where_nobody_is_gets_a_sentence(house: House) -> None:
    """No trace; and the same server twice is refused, also by two of its names."""
    gone = run_copy(house.source, _At("localhost:1"), "shop.*")
    assert gone.returncode == 1
    assert "Cannot connect to localhost:1" in gone.stderr
    assert "--server" not in gone.stderr
    assert "Traceback" not in gone.stderr
    assert run_copy(house.source, house.source).returncode == 2
    again = run_copy(house.source, _At(house.source.bootstrap.replace("localhost", "127.0.0.1")))
    assert again.returncode == 1
    assert "are one cluster, by two names: its coordinator is at " in again.stderr


@dataclass
class _At:
    bootstrap: str


def test_rows_that_retention_removed_leave_their_offsets_empty(new_server: Start, tmp_path: Path) -> None:
    """The log of the copy begins where the source's does."""
    source, target = new_server(**EAGER), new_server()
    with lakeward.connect(source.bootstrap) as here, lakeward.connect(target.bootstrap) as there:
        table = here.create_table(
            "fluss.short",
            "id INT, name STRING",
            buckets=1,
            properties={"table.log.segment.file-size": "4kb", "table.log.retention.bytes": "10kb"},
        )
        for number in range(40):
            table.append(_rows(200, first=number))
        assert eventually(lambda: table.offsets("earliest") != {lakeward.BucketId(None, 0): 0})
        told = copy(source, target, "fluss.short")["fluss.short"]
        assert told["compared"] == "same"
        copied, left = log_of(there, "fluss.short"), log_of(here, "fluss.short")
        assert f"the source's log begins at offset {copied[0][2]:,}" in told["notes"][0]
        assert copied[-len(left) :] == left  # retention may have gone on since
        assert there.table("fluss.short").offsets("earliest") == table.offsets("earliest")
        target.kill()
        target.start()
        table.append(_rows(3))
        assert copy(source, target, "fluss.short")["fluss.short"]["rows"] == 3
        assert log_of(there, "fluss.short") == log_of(here, "fluss.short")


def test_history_in_remote_storage_is_copied_too(new_server: Start, tmp_path: Path) -> None:
    """What has left the source's own disk is read where it is."""
    source = new_server(remote__data__dir=str(tmp_path / "remote"), **EAGER)
    target = new_server()
    with lakeward.connect(source.bootstrap) as here, lakeward.connect(target.bootstrap) as there:
        table = here.create_table(
            "fluss.far", "id INT, name STRING", buckets=1, properties={"table.log.tiered.local-segments": "1"}
        )
        for number in range(30):
            table.append(_rows(500, first=number))
        assert eventually(lambda: _has_remote(source))
        assert copy(source, target, "fluss.far")["fluss.far"]["rows"] == 15_000
        assert log_of(there, "fluss.far") == log_of(here, "fluss.far")


def _has_remote(server: ServerProcess) -> bool:
    remote = Path(server.options["remote.data.dir"])
    return any(remote.rglob("*.log"))


def test_who_may_not_write_there_is_told_so(house: House, new_server: Start) -> None:
    """A target that grants a stranger nothing; not a trace."""
    name = next(_names)
    house.here.create_table(name, "id INT, name STRING").append(_rows(10))
    closed = new_server(authorizer__enabled="true", super__users="User:admin")
    refused = run_copy(house.source, closed, name)
    assert refused.returncode == 1
    assert "ANONYMOUS" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_partitions_that_go_while_it_follows_do_not_end_it(house: House) -> None:
    """What is dropped in the source stays in the target, and is not asked for again."""
    name = next(_names)
    table = house.here.create_table(name, "id INT, dt STRING", partition_by=["dt"])
    table.append([{"id": i, "dt": "ab"[i % 2]} for i in range(10)])
    copy(house.source, house.target, name)
    table.drop_partition({"dt": "a"})
    table.append([{"id": 1, "dt": "c"}])
    assert copy(house.source, house.target, name)[name]["rows"] == 1
    assert [p.name for p in house.there.table(name).partitions()] == ["a", "b", "c"]
