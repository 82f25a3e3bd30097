"""Topics as tables of scripts, on librdkafka's mock broker: rows by value, in and out."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from kafka_broker import MockBroker
from script_bench import Bench

from lakeward.errors import LakewardError


@pytest.fixture(scope="module")
def broker() -> Iterator[MockBroker]:
    """A mock broker of this module's own."""
    made = MockBroker()
    yield made
    made.stop()


def table(name: str, columns: str, broker: MockBroker, **options: str) -> str:
    """CREATE TABLE … of a topic, in the catalog that keeps definitions in memory."""
    given = {"connector": "kafka", "topic": name, "properties.bootstrap.servers": broker.bootstrap, "format": "json"}
    given["properties.check.crcs"] = "false"  # the mock's markers of transactions have none
    given |= {key.replace("_", "."): value for key, value in options.items()}
    told = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value)
    return f"CREATE TABLE default_catalog.default_database.{name} ({columns}) WITH ({told});"


HERE = "default_catalog.default_database"


def test_rows_go_from_a_topic_into_a_table(bench: Bench, broker: MockBroker) -> None:
    """The guide's first way in (block 11): all rows once; after a restart those that came since, of new topics too."""
    broker.create("events_a", 3)
    sent = [
        {"event_id": f"e{n}", "user_id": n, "event_time": f"2026-11-01 10:00:{n % 60:02}.125", "data": "x" * n}
        for n in range(200)
    ]
    broker.send("events_a", sent[:150])
    source = table(
        "kafka_source",
        "event_id STRING, user_id BIGINT, event_time TIMESTAMP(3), data STRING",
        broker,
        topic="",
        **{"topic-pattern": "events_.*", "scan.topic-partition-discovery.interval": "0 s"},
    )
    into = "CREATE TABLE events (event_id STRING, user_id BIGINT, event_time TIMESTAMP(3), data STRING);"
    insert = f"INSERT INTO events SELECT * FROM {HERE}.kafka_source;"
    bench.run(source + into + insert)
    query = "SELECT user_id, event_id, CAST(event_time AS STRING), data FROM events"
    want = [(n, f"e{n}", f"2026-11-01 10:00:{n % 60:02}.125", "x" * n) for n in range(200)]
    bench.script.run("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(bench.rows(query)) == want[:150]
    (job,) = bench.script.jobs.running
    for stream in job.streams:
        stream.look()
    assert job.progress()[0].lag_rows == 0
    bench.restart()
    broker.create("events_b", 2)
    broker.send("events_b", sent[150:])
    bench.run(source + insert)
    bench.script.run("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(bench.rows(query)) == want


@pytest.mark.long
def test_what_cannot_be_read(bench: Bench, broker: MockBroker) -> None:
    """One message in a hundred is broken: an error that names it, or left out and counted, or a dead letter."""
    broker.create("shaky", 2)
    good = [{"id": n, "small": n % 100} for n in range(300)]
    bad = [b"{broken", {"id": 7, "small": 300}, b"[1]"]
    broker.send("shaky", [*good[:150], *bad, *good[150:]])
    bench.script.run(
        table("shaky", "id BIGINT, small TINYINT", broker) + "CREATE TABLE kept (id BIGINT, small TINYINT);"
    )
    letters = "'scan.on-error' = 'dead-letter', 'scan.dead-letter.table' = 'letters.shaky'"
    bench.run(f"INSERT INTO kept SELECT * FROM {HERE}.shaky /*+ OPTIONS({letters}) */;")
    (job,) = bench.script.jobs.running
    for stream in job.streams:
        stream.look()
    assert job.progress()[0].skipped_rows == 3
    bench.script.run("SET 'execution.runtime-mode' = 'batch'")
    want = sorted(((n, n % 100) for n in range(300)), key=repr)
    assert bench.rows("SELECT * FROM kept") == want
    # A dead letter that comes again is the same row.
    assert bench.rows(f"SELECT * FROM {HERE}.shaky /*+ OPTIONS({letters}) */") == want
    mild = bench.rows(f"SELECT * FROM {HERE}.shaky /*+ OPTIONS('json.ignore-parse-errors' = 'true') */")
    assert mild == sorted([*want, (7, None)], key=repr), "a value that does not fit is NULL"
    found = bench.rows("SELECT topic, `value`, reason FROM letters.shaky")
    values = sorted(bytes(value) for _, value, _ in found)
    assert values == sorted([b"{broken", b"[1]", json.dumps({"id": 7, "small": 300}).encode()])
    assert all(topic == "shaky" and reason for topic, _, reason in found)
    with pytest.raises(Exception, match="cannot be read") as wrong:
        bench.rows(f"SELECT * FROM {HERE}.shaky")
    assert "of topic 'shaky', partition" in str(wrong.value)


@pytest.mark.long
def test_metadata_keys_and_a_watermark(bench: Bench, broker: MockBroker) -> None:
    """What Kafka knows of a message is in columns, keys are decoded, and times of messages close windows."""
    broker.create("meta", 1)
    for n in range(5):
        value = {"v": n * 10}
        broker.send("meta", [({"k": n}, value)], headers=[("h", b"x%d" % n)], timestamp=1_700_000_000_000 + n * 60_000)
    columns = (
        "key_k BIGINT, v INT, `offset` BIGINT METADATA VIRTUAL, part INT METADATA FROM 'partition',"
        " ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', h MAP<STRING, BYTES> METADATA FROM 'headers',"
        " kind STRING METADATA FROM 'timestamp-type', topic STRING METADATA,"
        " WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
    )
    options = {
        "key.format": "json",
        "key.fields": "key_k",
        "key.fields-prefix": "key_",
        "value.fields-include": "EXCEPT_KEY",
    }
    bench.script.run(table("meta", columns, broker, **options))
    bench.script.run("SET 'execution.runtime-mode' = 'batch'")
    query = f"SELECT key_k, v, `offset`, part, UNIX_MILLIS(ts), CAST(h['h'] AS STRING), kind, topic FROM {HERE}.meta"
    assert bench.rows(query) == [
        (n, n * 10, n, 0, 1_700_000_000_000 + n * 60_000, f"x{n}", "CreateTime", "meta") for n in range(5)
    ]
    bench.script.run("SET 'execution.runtime-mode' = 'streaming'")
    bench.run(
        "CREATE TABLE windows (began TIMESTAMP_LTZ(3), total BIGINT);"
        "INSERT INTO windows SELECT window_start, SUM(v) FROM"
        f" TABLE(TUMBLE(TABLE {HERE}.meta, DESCRIPTOR(ts), INTERVAL '2' MINUTES)) GROUP BY window_start, window_end;"
    )
    totals = [total for _, total in bench.table("windows")]
    assert sorted(totals) == [0, 30]  # the last window is open


def test_upserts_and_deletes_by_key(bench: Bench, broker: MockBroker) -> None:
    """A table with a primary key goes out as upserts and tombstones, and comes back in as the same table."""
    broker.create("users_out", 2)
    columns = "id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED"
    upserts = {"connector": "upsert-kafka", "format": "", "key.format": "json", "value.format": "json"}
    bench.run(
        f"CREATE TABLE users ({columns}); CREATE TABLE users_back ({columns});"
        + table("users_out", columns, broker, **upserts)
        + "SET 'pipeline.name' = 'out';"
        + f"INSERT INTO {HERE}.users_out SELECT * FROM users;"
        + "SET 'pipeline.name' = 'back';"
        + f"INSERT INTO users_back SELECT * FROM {HERE}.users_out;"
    )
    for change in (
        "INSERT INTO users VALUES (1, 'ann'), (2, 'bob'), (3, 'cid')",
        "INSERT INTO users VALUES (2, 'bea')",
        "DELETE FROM users WHERE id = 3",
    ):
        bench.script.run(change)
        bench.settle()
    bench.settle()
    assert bench.table("users_back") == [(1, "ann"), (2, "bea")]
    last = {m.key(): m.value() for m in broker.messages("users_out")}
    found = {json.loads(key)["id"]: None if value is None else json.loads(value) for key, value in last.items()}
    assert found == {1: {"id": 1, "name": "ann"}, 2: {"id": 2, "name": "bea"}, 3: None}


@pytest.mark.long
def test_bounded_rows_into_a_topic_and_out_again(bench: Bench, broker: MockBroker) -> None:
    """INSERT VALUES is kept when it returns; a bounded stream ends by itself; odd options are refused by name."""
    broker.create("numbers", 1)
    bench.script.run(table("numbers", "id BIGINT, word STRING", broker))
    bench.script.run(f"INSERT INTO {HERE}.numbers VALUES (1, 'one'), (2, 'two'), (3, NULL)")
    rows = sorted(broker.rows("numbers"), key=lambda row: row["id"])
    assert rows == [{"id": 1, "word": "one"}, {"id": 2, "word": "two"}, {"id": 3, "word": None}]
    (outcome,) = bench.script.run(
        f"SELECT id FROM {HERE}.numbers /*+ OPTIONS('scan.startup.mode' = 'specific-offsets',"
        " 'scan.startup.specific-offsets' = 'partition:0,offset:1', 'scan.bounded.mode' = 'latest-offset') */"
    )
    assert len(outcome.rows().to_pylist()) == 2
    for option, told in (
        (("topik", "x"), "The nearest known name is 'topic'"),
        (("format", "yaml"), "There is no format 'yaml'"),
        (("scan.startup.mode", "first"), "is not one of earliest-offset"),
    ):
        with pytest.raises(LakewardError, match=told):
            bench.script.run(table("odd", "id BIGINT", broker, **dict([option])))
