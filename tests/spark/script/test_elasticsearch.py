"""Rows of a script as documents of Elasticsearch, by a small server that keeps them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from script_bench import Bench
from search_server import SearchServer, search_server

import lakeward as lw
from lakeward.errors import LakewardError


@pytest.fixture
def search() -> Iterator[SearchServer]:
    """A server of its own for each test."""
    with search_server() as made:
        yield made


def test_a_stream_of_changes_becomes_documents(bench: Bench, conn: lw.Connection, search: SearchServer) -> None:
    """Inserts, updates, deletes by key; a micro-batch that is done again changes nothing."""
    bench.run(
        "CREATE TABLE users (id INT, name STRING, seen TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED);"
        "INSERT INTO users VALUES (1, 'a', TIMESTAMP '2026-11-01 10:00:00.5'), (2, 'b', NULL), (3, 'c', NULL);"
        "CREATE TEMPORARY TABLE found (id INT, name STRING, seen TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ('connector' = 'elasticsearch-7', 'hosts' = '{search.url}', 'index' = 'users');"
        "SET 'pipeline.name' = 'to-search';"
        "INSERT INTO found SELECT * FROM users;"
    )
    first = {
        "1": {"id": 1, "name": "a", "seen": "2026-11-01T10:00:00.500"},
        "2": {"id": 2, "name": "b", "seen": None},
        "3": {"id": 3, "name": "c", "seen": None},
    }
    assert search.documents("users") == first
    table = conn.table(f"{bench.database}.users")
    table.upsert([{"id": 2, "name": "B", "seen": None}, {"id": 4, "name": "d", "seen": None}])
    table.delete([{"id": 1}])
    search.failures = [429, "drop"]
    search.lost_answers = 1
    bench.settle()
    after = {"2": first["2"] | {"name": "B"}, "3": first["3"], "4": {"id": 4, "name": "d", "seen": None}}
    assert search.documents("users") == after
    (job,) = bench.script.jobs.running
    bench.script.jobs.stop()
    _forget_the_last_batch(Path(job.checkpoint))
    search.requests.clear()
    bench.restart()
    bench.run(
        "CREATE TEMPORARY TABLE found (id INT, name STRING, seen TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED)"
        f" WITH ('connector' = 'elasticsearch-7', 'hosts' = '{search.url}', 'index' = 'users');"
        "SET 'pipeline.name' = 'to-search';"
        "INSERT INTO found SELECT * FROM users;"
    )
    assert search.requests, "the last micro-batch was done again"
    assert search.documents("users") == after


def _forget_the_last_batch(checkpoint: Path) -> None:
    """As if the process had died before it noted that the micro-batch was done."""
    (commits,) = checkpoint.rglob("commits")
    last = max((path for path in commits.iterdir() if path.name.isdigit()), key=lambda path: int(path.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def test_refused_documents_are_kept_or_told(bench: Bench, search: SearchServer, tmp_path: Path) -> None:
    """The job fails and says why; or they are dead letters, in files or in a table, and the rest is written."""
    search.refuse = lambda _, id_, __: 400 if id_ == "2" else None
    columns = "(id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)"
    place = f"'connector' = 'opensearch', 'hosts' = '{search.url}', 'index' = 'all'"
    files = tmp_path / "dead"
    dead = "'failure-handler' = 'dead-letter'"
    bench.run(
        f"CREATE TEMPORARY TABLE strict {columns} WITH ({place});"
        f"CREATE TEMPORARY TABLE to_files {columns} WITH ({place}, {dead}, 'sink.dead-letter.path' = '{files}');"
        f"CREATE TEMPORARY TABLE to_table {columns} WITH ({place}, {dead}, 'sink.dead-letter.table' = 'dead.letters');"
        "SET 'execution.runtime-mode' = 'batch';"
    )
    rows = "(VALUES (1, 'a'), (2, 'b'), (3, 'c')) AS v (id, name)"
    with pytest.raises(
        LakewardError, match="1 documents were refused, the first \\(id '2', index 'all'\\) with: HTTP 400"
    ):
        bench.run(f"INSERT INTO strict SELECT * FROM {rows}")
    search.indexes.clear()
    bench.run(f"INSERT INTO to_files SELECT * FROM {rows}")
    assert set(search.documents("all")) == {"1", "3"}
    (file,) = files.glob("*/*.json")
    letter = json.loads(file.read_text())
    assert (letter["id"], letter["index_name"], letter["action"]) == ("2", "all", "index")
    assert json.loads(letter["document"]) == {"id": 2, "name": "b"}
    assert letter["reason"].startswith("HTTP 400, document_parsing_exception")
    bench.run(f"INSERT INTO to_table SELECT * FROM {rows}")
    assert bench.rows("SELECT id, index_name, document FROM here.dead.letters") == [("2", "all", '{"id":2,"name":"b"}')]
    bench.run("DROP TABLE here.dead.letters; DROP DATABASE here.dead")


def test_a_table_without_a_key_says_what_is_guaranteed(bench: Bench, search: SearchServer) -> None:
    """Rows are added, at least once; reading and overwriting are refused."""
    (outcome,) = bench.run(
        "CREATE TEMPORARY TABLE log (id INT, name STRING)"
        f" WITH ('connector' = 'elasticsearch', 'hosts' = '{search.url}', 'index' = 'log-{{name}}')"
    )
    assert "at least once" in outcome.notices[0]
    bench.run("INSERT INTO log VALUES (1, 'a'), (1, 'a'), (2, 'b')")
    assert sorted(document["id"] for document in search.documents("log-a").values()) == [1, 1]
    assert [document["id"] for document in search.documents("log-b").values()] == [2]
    with pytest.raises(LakewardError, match="only writes"):
        bench.rows("SELECT * FROM log")
