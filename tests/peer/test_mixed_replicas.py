"""Buckets with replicas on Apache's tablet servers and on ours: rows that were acknowledged outlive any one of them."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator

import pyarrow as pa
import pytest
from apache_cluster import ApacheCluster
from eventually import eventually
from mixed_cluster import JAVAS, OURS, SETTINGS, Writer, agree, rows, start

import lakeward as lw

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

_KILLS = int(os.environ.get("MIXED_KILLS", "6"))
_SEED = int(os.environ.get("MIXED_SEED", str(random.SystemRandom().randrange(10**6))))


@pytest.fixture(scope="module")
def cluster() -> Iterator[ApacheCluster]:
    """Two of Apache's tablet servers and one of ours."""
    started = ApacheCluster(SETTINGS)
    try:
        for number in (*JAVAS, OURS):
            start(started, number)
        yield started
    finally:
        started.stop(keep="MIXED_KEEP" in os.environ)


def kill_and_restart(cluster: ApacheCluster, chance: random.Random, writer: Writer, table: str) -> None:
    """Kill a server at any moment, let it be missed or not, start it again, and see that all agree."""
    number = chance.choice((*JAVAS, OURS))
    time.sleep(chance.random())
    cluster.kill(number)
    time.sleep(chance.choice((0.2, 4.5)))
    before = len(writer.acknowledged)
    start(cluster, number)
    assert eventually(lambda: len(writer.acknowledged) > before, within_s=60), f"nothing is written (killed {number})"
    writer.pause()
    where = cluster.directory
    assert eventually(lambda: cluster.in_sync(table) == {(0, 1, 3)}, within_s=60), (
        number,
        cluster.in_sync(table),
        where,
    )
    assert eventually(lambda: agree(cluster, table), within_s=30), (
        f"other bytes after server {number} was killed: {where}"
    )
    writer.go_on()


def test_a_table_on_both_kinds_has_the_same_bytes(cluster: ApacheCluster) -> None:
    """Each server leads a bucket and follows in two; a client sees every row once."""
    with lw.connect(cluster.bootstrap) as conn:
        table = conn.create_table(
            "fluss.both", "id BIGINT, name STRING", buckets=3, properties={"table.replication.factor": "3"}
        )
        for first in range(0, 20_000, 1000):
            table.append(rows(first, 1000))
        assert sorted(table.scan().to_arrow()["id"].to_pylist()) == list(range(20_000))
    assert eventually(lambda: agree(cluster, "both"), within_s=20)


def test_acknowledged_rows_outlive_kills(cluster: ApacheCluster) -> None:
    """Any server, at any moment, again and again: what was acknowledged is there once, the replicas agree."""
    chance = random.Random(_SEED)
    with lw.connect(cluster.bootstrap) as conn:
        conn.create_table(
            "fluss.kills", "id BIGINT, name STRING", buckets=3, properties={"table.replication.factor": "3"}
        )
    writer = Writer(cluster.bootstrap, "fluss.kills", lambda table, some: table.append(some))
    writer.start()
    for _ in range(_KILLS):
        kill_and_restart(cluster, chance, writer, "kills")
    writer.stop()
    with lw.connect(cluster.bootstrap) as conn:
        found = conn.table("fluss.kills").scan().to_arrow()["id"].to_pylist()
    print(f"seed {_SEED}: {_KILLS} kills, {len(writer.acknowledged)} rows, slowest write {writer.slowest_s:.1f} s")
    assert set(writer.acknowledged) <= set(found), f"seed {_SEED}"
    assert len(found) == len(set(found)), f"seed {_SEED}: rows twice"


def test_state_by_key_outlives_kills(cluster: ApacheCluster) -> None:
    """A primary key table: whoever leads answers lookups from what was acknowledged; state equals changelog."""
    chance = random.Random(_SEED + 1)
    with lw.connect(cluster.bootstrap) as conn:
        conn.create_table(
            "fluss.keyed",
            "id BIGINT, name STRING, PRIMARY KEY (id)",
            buckets=3,
            properties={"table.replication.factor": "3"},
        )
    writer = Writer(cluster.bootstrap, "fluss.keyed", lambda table, some: table.upsert(some))
    writer.start()
    for _ in range(max(_KILLS // 2, 1)):
        kill_and_restart(cluster, chance, writer, "keyed")
    writer.stop()
    with lw.connect(cluster.bootstrap) as conn:
        table = conn.table("fluss.keyed")
        wanted = writer.acknowledged
        found = table.lookup(pa.table({"id": pa.array(wanted, pa.int64())}))
        assert found["name"].to_pylist() == [f"row {one}" for one in wanted], f"seed {_SEED}"
        changes = table.scan().to_arrow()
    print(f"seed {_SEED}: {len(wanted)} keys")
    assert set(wanted) <= set(changes["id"].to_pylist()), f"seed {_SEED}"


@pytest.mark.parametrize("keyed", [False, True], ids=["append", "upsert"])
def test_a_writer_goes_on_while_a_killed_leader_stays_away(cluster: ApacheCluster, keyed: bool) -> None:
    """The client that was talking to it finds its successor; nobody has to start it again."""
    name, key = f"away{keyed:d}", ", PRIMARY KEY (id)" if keyed else ""
    with lw.connect(cluster.bootstrap) as conn:
        conn.create_table(
            f"fluss.{name}", f"id BIGINT, name STRING{key}", buckets=1, properties={"table.replication.factor": "3"}
        )
    verb = "upsert" if keyed else "append"
    writer = Writer(cluster.bootstrap, f"fluss.{name}", lambda table, some: getattr(table, verb)(some))
    writer.start()
    assert eventually(lambda: len(writer.acknowledged) > 100, within_s=60)
    killed = json.loads(cluster.leaders(name)[0])["leader"]
    cluster.kill(killed)
    try:
        before = len(writer.acknowledged)
        assert eventually(lambda: len(writer.acknowledged) > before + 100, within_s=60), f"killed {killed}"
    finally:
        start(cluster, killed)
    writer.stop()
    assert not writer.failures


def test_a_writer_goes_on_soon_when_ours_succeeds_a_frozen_leader(cluster: ApacheCluster) -> None:
    """The frozen one keeps all its connections. Its successor is elected after the session, and leads at once."""
    with lw.connect(cluster.bootstrap) as conn:
        for attempt in range(40):
            name = f"frozen{attempt}"
            conn.create_table(
                f"fluss.{name}", "id BIGINT, name STRING", buckets=1, properties={"table.replication.factor": "2"}
            ).append(rows(0, 20))
            frozen = json.loads(cluster.leaders(name)[0])
            if frozen["leader"] in JAVAS and OURS in frozen["isr"]:
                break
    writer = Writer(cluster.bootstrap, f"fluss.{name}", lambda table, some: table.append(some))
    writer.start()
    assert eventually(lambda: len(writer.acknowledged) > 100, within_s=60)
    os.kill(cluster.pid(f"tablet-{frozen['leader']}"), signal.SIGSTOP)
    try:
        before = len(writer.acknowledged)
        assert eventually(lambda: len(writer.acknowledged) > before + 100, within_s=60)
        slowest_s = writer.slowest_s
    finally:
        os.kill(cluster.pid(f"tablet-{frozen['leader']}"), signal.SIGCONT)
    writer.stop()
    assert slowest_s < 20, "the request to the frozen one was waited for until its time was up"
    with lw.connect(cluster.bootstrap) as conn:
        found = conn.table(f"fluss.{name}").scan().to_arrow()["id"].to_pylist()
    assert sorted(found) == sorted([*range(20), *writer.acknowledged])


@pytest.mark.parametrize("number", [OURS, JAVAS[0]])
def test_a_server_that_stood_still_for_longer_than_its_session_comes_back(cluster: ApacheCluster, number: int) -> None:
    """It wakes up as an old leader: others lead by then, nothing it was told before is lost, and all agree."""
    name = f"still{number}"
    with lw.connect(cluster.bootstrap) as conn:
        conn.create_table(
            f"fluss.{name}", "id BIGINT, name STRING", buckets=3, properties={"table.replication.factor": "3"}
        )
    writer = Writer(cluster.bootstrap, f"fluss.{name}", lambda table, some: table.append(some))
    writer.start()
    assert eventually(lambda: len(writer.acknowledged) > 100, within_s=60)
    os.kill(cluster.pid(f"tablet-{number}"), signal.SIGSTOP)
    time.sleep(6)
    os.kill(cluster.pid(f"tablet-{number}"), signal.SIGCONT)
    before = len(writer.acknowledged)
    assert eventually(lambda: len(writer.acknowledged) > before, within_s=60)
    writer.pause()
    assert eventually(lambda: cluster.in_sync(name) == {(0, 1, 3)}, within_s=60), cluster.in_sync(name)
    assert eventually(lambda: agree(cluster, name), within_s=30)
    writer.stop()
    with lw.connect(cluster.bootstrap) as conn:
        found = conn.table(f"fluss.{name}").scan().to_arrow()["id"].to_pylist()
    assert set(writer.acknowledged) <= set(found)
