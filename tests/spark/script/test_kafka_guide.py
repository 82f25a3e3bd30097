"""The guide's way from topics through tables into a topic again (blocks 22 and 29), on the mock broker, by value."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_broker import MockBroker
from script_bench import Bench
from server_process import ServerProcess

SCRIPT = """
CREATE CATALOG lab WITH ('type' = 'fluss', 'bootstrap.servers' = '{server}');
USE CATALOG lab;
CREATE DATABASE IF NOT EXISTS kafka_guide;
CREATE TABLE kafka_guide.visits (
  visit_id STRING, user_id BIGINT, visited TIMESTAMP(3), page STRING, dt STRING,
  WATERMARK FOR visited AS visited - INTERVAL '5' SECOND
) PARTITIONED BY (dt) WITH ('bucket.num' = '2');
CREATE TABLE kafka_guide.users (
  user_id BIGINT, name STRING, tier STRING, updated_at TIMESTAMP(3), PRIMARY KEY (user_id) NOT ENFORCED
) WITH ('bucket.num' = '1');

CREATE CATALOG topics WITH ('type' = 'generic_in_memory');
USE CATALOG topics;
CREATE TABLE kafka_visits (
  visit_id STRING, user_id BIGINT, visited TIMESTAMP(3), page STRING,
  WATERMARK FOR visited AS visited - INTERVAL '5' SECOND
) WITH ('connector' = 'kafka', 'topic' = 'visits', 'format' = 'json', {broker});
CREATE TABLE kafka_users (user_id BIGINT, name STRING, tier STRING)
  WITH ('connector' = 'kafka', 'topic' = 'users', 'format' = 'json', {broker});
CREATE TABLE kafka_sink (visit_id STRING, name STRING, page STRING)
  WITH ('connector' = 'kafka', 'topic' = 'enriched', 'format' = 'json', 'key.fields' = 'visit_id', {broker});

INSERT INTO lab.kafka_guide.users
  SELECT user_id, name, tier, CURRENT_TIMESTAMP AS updated_at FROM kafka_users;
"""
FLOW = """
INSERT INTO lab.kafka_guide.visits
  SELECT visit_id, user_id, visited, page, DATE_FORMAT(visited, 'yyyy-MM-dd') AS dt FROM kafka_visits;
INSERT INTO kafka_sink
  SELECT v.visit_id, u.name, v.page FROM lab.kafka_guide.visits v
  LEFT JOIN lab.kafka_guide.users FOR SYSTEM_TIME AS OF v.visited AS u ON v.user_id = u.user_id
  WHERE u.tier = 'gold';
"""


@pytest.fixture
def broker() -> Iterator[MockBroker]:
    """A mock broker with the topics."""
    made = MockBroker()
    for topic in ("visits", "users", "enriched"):
        made.create(topic, 2)
    yield made
    made.stop()


def test_from_topics_through_tables_into_a_topic(bench: Bench, broker: MockBroker, server: ServerProcess) -> None:
    """Partitions by day, users by key, a lookup for every visit, and what comes of it as messages by key."""
    users = [{"user_id": n, "name": f"u{n}", "tier": ("gold", "plain")[n % 2]} for n in range(6)]
    visits = [
        {"visit_id": f"v{n}", "user_id": n % 8, "visited": f"2026-11-0{n % 3 + 1} 10:00:00", "page": f"/{n}"}
        for n in range(48)
    ]
    broker.send("users", users)
    broker.send("visits", visits)
    options = f"'properties.bootstrap.servers' = '{broker.bootstrap}', 'properties.check.crcs' = 'false'"
    for text in (SCRIPT, FLOW):  # users are there before visits are looked up
        bench.run(text.replace("{server}", server.bootstrap).replace("{broker}", options))
    bench.settle()
    bench.script.jobs.stop()
    bench.script.run("SET 'execution.runtime-mode' = 'batch'")
    days = bench.rows("SELECT dt, COUNT(*) FROM lab.kafka_guide.visits GROUP BY dt")
    assert days == [(f"2026-11-0{day}", 16) for day in (1, 2, 3)]
    assert bench.rows("SELECT user_id, name, tier FROM lab.kafka_guide.users") == [tuple(u.values()) for u in users]
    want = [
        {"visit_id": v["visit_id"], "name": f"u{v['user_id']}", "page": v["page"]}
        for v in visits
        if v["user_id"] in {0, 2, 4}
    ]
    assert sorted(broker.rows("enriched"), key=repr) == sorted(want, key=repr)
    bench.script.run("DROP DATABASE lab.kafka_guide CASCADE")
