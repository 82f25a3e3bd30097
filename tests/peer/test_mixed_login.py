"""A cluster whose servers log in at each other, and a seat of ours in it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from apache_cluster import ApacheCluster
from mixed_cluster import JAVAS, OURS, SETTINGS, rows, start

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
_JAAS = "org.apache.fluss.security.auth.sasl.plain.PlainLoginModule required"
_LOGIN = {
    "security.protocol.map": "FLUSS:sasl",
    "security.sasl.enabled.mechanisms": "PLAIN",
    "security.sasl.plain.jaas.config": f'{_JAAS} user_servers="of-servers" user_alice="of-alice";',
    "client.security.protocol": "sasl",
    "client.security.sasl.mechanism": "PLAIN",
    "client.security.sasl.username": "servers",
    "client.security.sasl.password": "of-servers",
}
_FLAGS = tuple(part for key, value in {**SETTINGS, **_LOGIN}.items() for part in ("-D", f"{key}={value}"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApacheCluster]:
    """Two of Apache's tablet servers and one of ours; nobody comes in without a login."""
    started = ApacheCluster({**SETTINGS, **_LOGIN})
    try:
        for number in JAVAS:
            start(started, number)
        started.start_ours(OURS, *_FLAGS)
        yield started
    finally:
        started.stop(keep="MIXED_KEEP" in os.environ)


@pytest.mark.parametrize("victim", [OURS, JAVAS[0]])
def test_what_is_acknowledged_outlives_a_server_of_either_kind(cluster: ApacheCluster, victim: int) -> None:
    """They fetch from each other, report to the coordinator, and serve clients, each by its own login."""
    with lw.connect(cluster.bootstrap, user="alice", password="of-alice") as conn:
        path, parts = f"fluss.without_{victim}", {"table.replication.factor": "3"}
        table = conn.create_table(path, "id BIGINT, name STRING", buckets=3, properties=parts)
        for first in range(0, 1000, 100):
            table.append(rows(first, 100))
        cluster.kill(victim)
        for first in range(1000, 2000, 100):
            table.append(rows(first, 100))
        assert sorted(table.scan(["id"]).to_arrow()["id"].to_pylist()) == list(range(2000))
    if victim == OURS:
        cluster.start_ours(OURS, *_FLAGS)
    else:
        start(cluster, victim)
