"""The guide's blocks in which rows come from elsewhere or go there, from end to end, by value.

Columns are filled in where a block says `...`, hosts are those of this test: librdkafka's mock broker, a real MariaDB
where there is one, a small server in the place of Elasticsearch.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from guide_pipeline import GUIDE_PIPELINE
from kafka_broker import MockBroker
from mariadb import PASSWORD, USER, MariaDb
from script_bench import Bench
from search_server import search_server
from server_process import ServerProcess

import lakeward as lw
from lakeward.pipelines.reading import read_pipelines
from lakeward.pipelines.status import PipelineState
from lakeward.runtime.backoff import Backoff
from lakeward.runtime.clock import SystemClock
from lakeward.spark.pipelines.run.pipeline_home import PipelineHome
from lakeward.spark.pipelines.run.pipelines import Pipelines
from lakeward.spark.scripts.jobs.job_home import JobHome

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROOT = Path(__file__).parents[3]
_SQL = re.compile(r"^```sql\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def broker() -> Iterator[MockBroker]:
    """A mock broker of this module's own."""
    made = MockBroker()
    yield made
    made.stop()


def test_the_page_of_ingest_runs(bench: Bench, broker: MockBroker, tmp_path: Path) -> None:
    """Its SQL is one script, but for the database: rows of a topic and of a file end as documents."""
    broker.create("orders")
    broker.send("orders", [{"id": 1, "city": "Turin", "amount": "10.10", "at": moment(1)}, {"id": 2, "city": "Lagos"}])
    (tmp_path / "incoming").mkdir()
    (tmp_path / "incoming" / "a.csv").write_text("3,Turin,0.20,2026-11-01 10:00:00\n")
    with search_server() as search:
        for text in _SQL.findall((_ROOT / "docs/guides/ingest.md").read_text(encoding="utf-8")):
            if "mysql-cdc" in text:
                continue  # a test of its own below
            there = text.replace("http://search:9200", search.url).replace("/data", str(tmp_path))
            more = f"{broker.bootstrap}', 'properties.check.crcs' = 'false"
            for statement in there.replace("kafka:9092", more).split(";\n"):
                bench.run(statement)
        assert search.documents("cities") == {
            "Turin": {"city": "Turin", "orders": 2, "total": 10.3},
            "Lagos": {"city": "Lagos", "orders": 1, "total": None},
        }


def topic(name: str, broker: MockBroker) -> str:
    """WITH (…) of a topic."""
    return (
        f"WITH ('connector' = 'kafka', 'topic' = '{name}', 'properties.bootstrap.servers' = '{broker.bootstrap}',"
        " 'format' = 'json', 'properties.check.crcs' = 'false')"  # the mock's markers of transactions have none
    )


def moment(second: int) -> str:
    """A time as JSON has it."""
    return f"2026-11-01 10:00:{second:02}.500"


def at(second: int) -> dt.datetime:
    """The same, as rows have it."""
    return dt.datetime(2026, 11, 1, 10, 0, second, 500_000)


@pytest.mark.long
def test_blocks_11_29_43_from_kafka_to_kafka_and_elasticsearch(bench: Bench, broker: MockBroker) -> None:
    """Topic → log table → looked up and written to a topic; and windows of it as documents."""
    broker.create("raw", 2)
    broker.create("enriched")
    sent = [{"event_id": f"e{n}", "user_id": n % 3, "event_time": moment(n), "payload": {"n": n}} for n in range(10)]
    broker.send("raw", sent)
    with search_server() as search:
        bench.run(
            "CREATE TABLE fluss_users (user_id BIGINT, name STRING, tier STRING, PRIMARY KEY (user_id) NOT ENFORCED);"
            "INSERT INTO fluss_users VALUES (0, 'Ann', 'premium'), (1, 'Bob', 'free');"
            "CREATE TEMPORARY TABLE kafka_raw"
            " (event_id STRING, user_id BIGINT, event_time TIMESTAMP(3), payload STRING)"
            f" {topic('raw', broker)};"
            "CREATE TABLE fluss_events (event_id STRING, user_id BIGINT, event_time TIMESTAMP(3), payload STRING);"
            "CREATE TEMPORARY TABLE kafka_sink"
            " (event_id STRING, user_id BIGINT, name STRING, tier STRING, payload STRING)"
            f" {topic('enriched', broker)};"
            "CREATE TEMPORARY TABLE elasticsearch_sink (user_id BIGINT, window_start TIMESTAMP(3), event_count BIGINT,"
            " PRIMARY KEY (user_id, window_start) NOT ENFORCED)"
            f" WITH ('connector' = 'elasticsearch-7', 'hosts' = '{search.url}', 'index' = 'counts');"
            "INSERT INTO fluss_events SELECT * FROM kafka_raw;"
        )
        assert bench.table("fluss_events") == [(f"e{n}", n % 3, at(n), f'{{"n":{n}}}') for n in range(10)]
        bench.run(
            "CREATE TABLE enriched_stream AS"
            " SELECT e.event_id, e.user_id, u.name, u.tier, e.payload FROM fluss_events e"
            " LEFT JOIN fluss_users FOR SYSTEM_TIME AS OF e.event_time AS u ON e.user_id = u.user_id;"
            "INSERT INTO kafka_sink SELECT * FROM enriched_stream;"
            "CREATE TEMPORARY VIEW processed AS"
            " SELECT user_id, TUMBLE_START(event_time, INTERVAL '1' MINUTE) AS window_start, COUNT(*) AS event_count"
            " FROM fluss_events GROUP BY user_id, TUMBLE(event_time, INTERVAL '1' MINUTE);"
            "INSERT INTO elasticsearch_sink SELECT * FROM processed;"
        )
        bench.settle()
        people = {0: ("Ann", "premium"), 1: ("Bob", "free"), 2: (None, None)}
        assert sorted(broker.rows("enriched"), key=lambda row: row["event_id"]) == [
            {
                "event_id": f"e{n}",
                "user_id": n % 3,
                "name": people[n % 3][0],
                "tier": people[n % 3][1],
                "payload": f'{{"n":{n}}}',
            }
            for n in range(10)
        ]
        start = "2026-11-01T10:00:00.000"
        assert search.documents("counts") == {
            f"{user}_{start}": {"user_id": user, "window_start": start, "event_count": count}
            for user, count in {0: 4, 1: 3, 2: 3}.items()
        }


@pytest.mark.long
def test_block_22_from_kafka_to_an_enriched_stream(bench: Bench, broker: MockBroker, server: ServerProcess) -> None:
    """Two topics into a partitioned log and a primary key table, joined by key."""
    broker.create("g22_events", 2)
    broker.create("g22_users")
    broker.send(
        "g22_users",
        [{"user_id": n, "name": f"n{n}", "email": None, "tier": "premium" if n else "free"} for n in range(2)],
    )
    broker.send(
        "g22_events",
        [{"event_id": f"e{n}", "user_id": n % 2, "event_type": "view", "event_time": moment(n)} for n in range(4)],
    )
    bench.run(
        f"CREATE CATALOG fluss WITH ('type' = 'fluss', 'bootstrap.servers' = '{server.bootstrap}');"
        "USE CATALOG fluss; CREATE DATABASE analytics;"
        "CREATE TABLE analytics.events (event_id STRING, user_id BIGINT, event_type STRING, event_time TIMESTAMP(3),"
        " payload STRING, dt STRING, WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND) PARTITIONED BY (dt)"
        " WITH ('bucket.num' = '16', 'table.datalake.enabled' = 'true', 'table.datalake.format' = 'paimon');"
        "CREATE TABLE analytics.users (user_id BIGINT, name STRING, email STRING, tier STRING, updated_at TIMESTAMP(3),"
        " PRIMARY KEY (user_id) NOT ENFORCED) WITH ('bucket.num' = '4');"
        "USE CATALOG default_catalog;"
        "CREATE TABLE kafka_events (event_id STRING, user_id BIGINT, event_type STRING, event_time TIMESTAMP(3),"
        f" payload STRING, WATERMARK FOR event_time AS event_time - INTERVAL '5' SECOND) {topic('g22_events', broker)};"
        "CREATE TABLE kafka_users (user_id BIGINT, name STRING, email STRING, tier STRING)"
        f" {topic('g22_users', broker)};"
    )
    try:
        bench.run(
            "INSERT INTO fluss.analytics.events SELECT event_id, user_id, event_type, event_time, payload,"
            " DATE_FORMAT(event_time, 'yyyy-MM-dd') AS dt FROM kafka_events;"
        )
        bench.run(
            "INSERT INTO fluss.analytics.users SELECT user_id, name, email, tier, CURRENT_TIMESTAMP AS updated_at"
            " FROM kafka_users;"
        )
        assert bench.table("fluss.analytics.events") == [
            (f"e{n}", n % 2, "view", at(n), None, "2026-11-01") for n in range(4)
        ]
        bench.script.run("SET 'execution.runtime-mode' = 'batch'")
        assert bench.rows(
            "SELECT e.event_id, e.user_id, u.name, u.tier, e.event_type, e.event_time FROM fluss.analytics.events e"
            " LEFT JOIN fluss.analytics.users FOR SYSTEM_TIME AS OF e.event_time AS u ON e.user_id = u.user_id"
            " WHERE u.tier = 'premium'"
        ) == [(f"e{n}", 1, "n1", "premium", "view", at(n)) for n in (1, 3)]
    finally:
        bench.script.jobs.stop()
        bench.script.run("DROP DATABASE fluss.analytics CASCADE")


@pytest.mark.long
def test_blocks_44_and_46_one_log_and_those_who_read_it(bench: Bench, broker: MockBroker, conn: lw.Connection) -> None:
    """State by key in a statement set; three readers of one event bus, one of them a topic."""
    broker.create("audit")
    bench.run(
        "CREATE TABLE event_bus (event_id STRING, event_type STRING, event_time TIMESTAMP(3), payload STRING,"
        " user_id BIGINT) WITH ('bucket.num' = '32', 'log.retention.hours' = '168');"
        "CREATE TABLE analytics_sink (event_id STRING, event_type STRING, event_time TIMESTAMP(3), payload STRING,"
        " user_id BIGINT);"
        "CREATE TABLE feature_store (user_id BIGINT, event_type STRING, event_time TIMESTAMP(3));"
        "CREATE TEMPORARY TABLE audit_table"
        " (event_id STRING, event_type STRING, event_time TIMESTAMP(3), payload STRING,"
        f" user_id BIGINT) {topic('audit', broker)};"
        "CREATE TABLE user_state (user_id BIGINT, total_events BIGINT, last_event_time TIMESTAMP(3),"
        " PRIMARY KEY (user_id) NOT ENFORCED);"
        "INSERT INTO event_bus VALUES ('a', 'view', TIMESTAMP '2026-11-01 10:00:01.5', 'x', 1),"
        " ('b', 'login', TIMESTAMP '2026-11-01 10:00:02.5', 'y', 1),"
        " ('c', 'purchase', TIMESTAMP '2026-11-01 10:00:03.5', 'z', 2);"
        "EXECUTE STATEMENT SET BEGIN INSERT INTO user_state SELECT user_id, COUNT(*) AS total_events,"
        " MAX(event_time) AS last_event_time FROM event_bus GROUP BY user_id; END;"
        "EXECUTE STATEMENT SET BEGIN"
        " INSERT INTO analytics_sink SELECT * FROM event_bus WHERE event_type IN ('purchase', 'view');"
        " INSERT INTO feature_store SELECT user_id, event_type, event_time FROM event_bus;"
        " INSERT INTO audit_table SELECT * FROM event_bus; END;"
    )
    assert bench.table("user_state") == [(1, 2, at(2)), (2, 1, at(3))]
    assert [row[0] for row in bench.table("analytics_sink")] == ["a", "c"]
    assert bench.table("feature_store") == [(1, "login", at(2)), (1, "view", at(1)), (2, "purchase", at(3))]
    assert sorted((row["event_id"], row["event_time"]) for row in broker.rows("audit")) == [
        ("a", moment(1)),
        ("b", moment(2)),
        ("c", moment(3)),
    ]


@pytest.mark.long
def test_blocks_12_26_45_from_mysql(bench: Bench, mariadb: MariaDb) -> None:
    """A copy, then every change: updates, deletes, keys that change; decimals to the cent."""
    mariadb.execute("DROP DATABASE IF EXISTS guide", "CREATE DATABASE guide")
    mariadb.execute(
        "CREATE TABLE users (user_id BIGINT PRIMARY KEY, name VARCHAR(40), email VARCHAR(40))",
        "CREATE TABLE orders (order_id BIGINT PRIMARY KEY, user_id BIGINT, amount DECIMAL(10,2), status VARCHAR(20))",
        "INSERT INTO users VALUES (1, 'Ann', 'a@x'), (2, 'Bob', NULL), (3, 'Cy', 'c@x')",
        "INSERT INTO orders VALUES (10, 1, 19.99, 'new'), (11, 2, 0.10, 'new')",
        database="guide",
    )
    place = (
        f"'connector' = 'mysql-cdc', 'hostname' = '127.0.0.1', 'port' = '{mariadb.port}', 'username' = '{USER}',"
        f" 'password' = '{PASSWORD.replace(chr(39), 2 * chr(39))}', 'database-name' = 'guide'"
    )
    users = "(user_id BIGINT, name STRING, email STRING, PRIMARY KEY (user_id) NOT ENFORCED)"
    orders = (
        "(order_id BIGINT, user_id BIGINT, amount DECIMAL(10,2), status STRING, PRIMARY KEY (order_id) NOT ENFORCED)"
    )
    bench.run(
        f"CREATE TEMPORARY TABLE mysql_users {users} WITH ({place}, 'table-name' = 'users');"
        f"CREATE TABLE fluss_users {users} WITH ('bucket.num' = '4');"
        f"CREATE TEMPORARY TABLE mysql_orders {orders} WITH ({place}, 'table-name' = 'orders');"
        f"CREATE TABLE fluss_orders {orders} WITH ('bucket.num' = '8', 'table.datalake.enabled' = 'true',"
        " 'table.datalake.format' = 'iceberg');"
        "INSERT INTO fluss_users SELECT * FROM mysql_users;"
    )
    bench.run("INSERT INTO fluss_orders SELECT * FROM mysql_orders;")
    assert bench.table("fluss_users") == [(1, "Ann", "a@x"), (2, "Bob", None), (3, "Cy", "c@x")]
    mariadb.execute(
        "UPDATE users SET email = 'b@x' WHERE user_id = 2",
        "UPDATE users SET user_id = 7 WHERE user_id = 3",
        "DELETE FROM users WHERE user_id = 1",
        "UPDATE orders SET status = 'paid', amount = 20.01 WHERE order_id = 10",
        "INSERT INTO orders VALUES (12, 7, 99999999.99, 'new')",
        database="guide",
    )
    bench.settle()
    assert bench.table("fluss_users") == [(2, "Bob", "b@x"), (7, "Cy", "c@x")]
    assert bench.table("fluss_orders") == [
        (10, 1, Decimal("20.01"), "paid"),
        (11, 2, Decimal("0.10"), "new"),
        (12, 7, Decimal("99999999.99"), "new"),
    ]


def test_blocks_24_and_25_a_pipeline_from_mysql(
    spark: SparkSession, server: ServerProcess, mariadb: MariaDb, conn: lw.Connection, tmp_path: Path
) -> None:
    """The block as it stands, but for hosts and the user: the table is made in the sink, copied, and follows."""
    mariadb.execute("DROP DATABASE IF EXISTS mydb", "CREATE DATABASE mydb")
    mariadb.execute(
        "CREATE TABLE users (user_id BIGINT PRIMARY KEY, name VARCHAR(40), email VARCHAR(40))",
        "INSERT INTO users VALUES (1, 'Ann', 'a@x'), (2, 'Bob', NULL), (3, 'Cy', 'c@x')",
        database="mydb",
    )
    text = GUIDE_PIPELINE.replace("mysql-host", "127.0.0.1").replace("3306", str(mariadb.port))
    text = text.replace("username: root", f"username: {USER}").replace("password: password", "password: ${SECRET}")
    text = text.replace("fluss-server:9123", server.bootstrap)

    def run() -> None:
        found = read_pipelines([("pipeline.yaml", text)], {"SECRET": PASSWORD})
        home = PipelineHome(JobHome(tmp_path / "state", "pipelines"))
        made = Pipelines(found, home, SystemClock(), once=True, write_line=lambda _: None, backoff=Backoff(0.2, 1.0))
        made.start(spark)
        [pipeline] = made.runs
        assert pipeline.await_end(200)
        made.stop(30)
        assert pipeline.status.state is PipelineState.FINISHED, pipeline.status.error

    try:
        run()
        table = conn.table("analytics.users")
        assert table.info.schema.primary_key == ("user_id",)
        assert _users(table) == [(1, "Ann", "a@x"), (2, "Bob", None), (3, "Cy", "c@x")]
        mariadb.execute(
            "UPDATE users SET email = 'b@x' WHERE user_id = 2", "DELETE FROM users WHERE user_id = 1", database="mydb"
        )
        run()
        assert _users(table) == [(2, "Bob", "b@x"), (3, "Cy", "c@x")]
    finally:
        conn.drop_database("analytics", cascade=True, missing_ok=True)


def _users(table: lw.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in table.snapshot().to_pylist())
