"""Replicas on Apache's tablet servers and on ours, when the network between them is cut, slow, or deaf on one side.

No two lead at once: what was acknowledged by all is there afterwards, what only an old leader had is not, and all
replicas have the same bytes.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from apache_cluster import ApacheCluster
from eventually import eventually
from faulty_links import FaultyLinks
from mixed_cluster import JAVAS, OURS, SETTINGS, Writer, agree, rows, start
from wire_client import WireClient

import lakeward as lw
from lakeward.errors import ErrorCode, LakewardError
from lakeward.protocol.api import Api
from lakeward.protocol.messages.log import (
    PbProduceLogReqForBucket,
    ProduceLogRequest,
)
from lakeward.protocol.messages.metadata import PbPhysicalTablePath
from lakeward.protocol.messages.servers import orders
from lakeward.protocol.messages.snapshot import PbTableBucket
from lakeward.records.arrow.log_batch_builder import encode_rows
from lakeward.records.batch.batch_header import NO_SEQUENCE, NO_WRITER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3000)]

_ROUNDS = int(os.environ.get("MIXED_FAULTS", "6"))
_SEED = int(os.environ.get("MIXED_SEED", str(random.SystemRandom().randrange(10**6))))
_TABLETS = tuple(f"tablet-{number}" for number in (*JAVAS, OURS))
_ALL = (*_TABLETS, "coordinator", "zookeeper")
_REPLICATED = {"table.replication.factor": "3"}
#: Rows that only an old leader was given.
_LOST = 1_000_000


@pytest.fixture(scope="module")
def links() -> Iterator[FaultyLinks]:
    """The network."""
    with FaultyLinks() as made:
        yield made


@pytest.fixture(scope="module")
def cluster(links: FaultyLinks) -> Iterator[ApacheCluster]:
    """Two of Apache's tablet servers and one of ours, each behind a proxy."""
    started = ApacheCluster(SETTINGS, links)
    try:
        for number in (*JAVAS, OURS):
            start(started, number)
        yield started
    finally:
        started.stop(keep="MIXED_KEEP" in os.environ)


@pytest.fixture(autouse=True)
def mended(links: FaultyLinks) -> Iterator[None]:
    """Whatever comes of a test, the next one finds a good network."""
    yield
    links.mend()


def isolate(links: FaultyLinks, server: str) -> None:
    """Only clients reach it."""
    for other in _ALL:
        if other != server:
            links.part(server, other)


def led(cluster: ApacheCluster, table: str) -> list[dict[str, Any]]:
    """Leader, epoch and in-sync set of each bucket."""
    return [json.loads(node) for node in cluster.leaders(table)]


def produce(table: lw.Table, bucket: int, acks: int) -> ProduceLogRequest:
    """Rows for one bucket, straight to whoever is asked."""
    batch = pa.record_batch({"id": pa.array(range(_LOST, _LOST + 20), pa.int64()), "name": ["lost"] * 20})
    records = encode_rows(batch).seal(table.info.schema_id, NO_WRITER, NO_SEQUENCE)
    asked = PbProduceLogReqForBucket(bucket_id=bucket, records=records)
    return ProduceLogRequest(acks=acks, table_id=table.info.table_id, timeout_ms=2000, buckets_req=(asked,))


def outcome(client: WireClient, request_id: int) -> ErrorCode | None:
    """What an answer says of its one bucket; None is success."""
    try:
        told = client.answer(request_id).buckets_resp[0]
    except LakewardError as wrong:
        return wrong.code
    return ErrorCode.of_wire(told.error_code) if told.error_code else None


@pytest.mark.parametrize("number", [OURS, JAVAS[0]], ids=["ours", "java"])
def test_an_isolated_leader_acknowledges_nothing_and_forgets_it(
    cluster: ApacheCluster, links: FaultyLinks, number: int
) -> None:
    """Clients still reach the old leader. Its rows are promised to nobody, and gone when it is back."""
    name = f"alone{number}"
    with lw.connect(cluster.bootstrap) as conn:
        table = conn.create_table(f"fluss.{name}", "id BIGINT, name STRING", buckets=3, properties=_REPLICATED)
        table.append(rows(0, 3000))
        before = led(cluster, name)
        bucket = next(i for i, one in enumerate(before) if one["leader"] == number)
        assert eventually(lambda: cluster.in_sync(name) == {(0, 1, 3)}, within_s=30)
        isolate(links, f"tablet-{number}")
        with WireClient("127.0.0.1", cluster.port(f"tablet-{number}")) as old:
            asked = [old.send(Api.PRODUCE_LOG, produce(table, bucket, acks)) for acks in (-1, 1, -1)]
            assert eventually(lambda: led(cluster, name)[bucket]["leader"] != number, within_s=30)
            # A successor of Apache's waits for its own fetch from the silent one to time out, 30 s, before it leads.
            table.append(rows(10_000, 3000))
            late = old.send(Api.PRODUCE_LOG, produce(table, bucket, -1))
            found = [outcome(old, one) for one in (*asked, late)]
            assert None not in (found[0], found[2], found[3]), f"rows were acknowledged by nobody but {number}: {found}"
        links.mend()
        assert eventually(lambda: cluster.in_sync(name) == {(0, 1, 3)}, within_s=60), cluster.in_sync(name)
        assert eventually(lambda: agree(cluster, name), within_s=30), cluster.directory
        after = led(cluster, name)[bucket]
        assert after["leader_epoch"] > before[bucket]["leader_epoch"]
        ids = table.scan().to_arrow()["id"].to_pylist()
        assert sorted(ids) == [*range(3000), *range(10_000, 13_000)]


def test_an_order_of_an_older_epoch_is_refused(cluster: ApacheCluster) -> None:
    """Delivered late, it would make an old leader of ours lead again."""
    with lw.connect(cluster.bootstrap) as conn:
        table = conn.create_table("fluss.late", "id BIGINT, name STRING", buckets=1, properties=_REPLICATED)
        table.append(rows(0, 100))
        now = led(cluster, "late")[0]
        order = orders.PbNotifyLeaderAndIsrReqForBucket(
            physical_table_path=PbPhysicalTablePath(database_name="fluss", table_name="late"),
            table_bucket=PbTableBucket(table_id=table.info.table_id, bucket_id=0),
            leader=OURS,
            leader_epoch=now["leader_epoch"] - 1,
            replicas=(0, 1, 3),
            isr=(OURS,),
            bucket_epoch=0,
        )
        request = orders.NotifyLeaderAndIsrRequest(
            coordinator_epoch=now["coordinator_epoch"], notify_buckets_leader_req=(order,)
        )
        with WireClient("127.0.0.1", cluster.port(f"tablet-{OURS}")) as client:
            answer = client.call(Api.NOTIFY_LEADER_AND_ISR, request)
        told = answer.notify_buckets_leader_resp[0]
        assert ErrorCode.of_wire(told.error_code) is ErrorCode.FENCED_LEADER_EPOCH
        table.append(rows(100, 100))
        assert table.count() == 200


def trouble(links: FaultyLinks, chance: random.Random) -> str:
    """Something goes wrong with the network; what it is."""
    one, other = chance.sample(_ALL, 2)
    match chance.choice(["alone", "parted", "deaf", "slow"]):
        case "alone":
            server = chance.choice(_TABLETS)
            isolate(links, server)
            return f"{server} alone"
        case "parted":
            links.part(one, other)
            return f"{one} and {other} parted"
        case "deaf":
            links.cut(one, other)
            return f"{other} does not hear {one}"
        case _:
            for sender in _TABLETS:
                for receiver in _TABLETS:
                    links.delay(sender, receiver, 0.2)
            return "slow between tablet servers"


def settle(cluster: ApacheCluster, table: str, writer: Writer, about: object) -> None:
    """All is well again: rows are written, every replica is in sync, and all have the same bytes."""
    before = len(writer.acknowledged)
    assert eventually(lambda: len(writer.acknowledged) > before, within_s=60), about
    writer.pause()
    assert eventually(lambda: cluster.in_sync(table) == {(0, 1, 3)}, within_s=60), (about, cluster.in_sync(table))
    assert eventually(lambda: agree(cluster, table), within_s=30), about


def test_acknowledged_rows_outlive_a_bad_network(cluster: ApacheCluster, links: FaultyLinks) -> None:
    """Fault after fault, short and longer than sessions: nothing acknowledged is lost, or there twice; all agree."""
    chance = random.Random(_SEED)
    with lw.connect(cluster.bootstrap) as conn:
        conn.create_table("fluss.faults", "id BIGINT, name STRING", buckets=3, properties=_REPLICATED)
        keyed = "id BIGINT, name STRING, PRIMARY KEY (id)"
        conn.create_table("fluss.keyedfaults", keyed, buckets=3, properties=_REPLICATED)
    writers = {
        "faults": Writer(cluster.bootstrap, "fluss.faults", lambda table, some: table.append(some)),
        "keyedfaults": Writer(cluster.bootstrap, "fluss.keyedfaults", lambda table, some: table.upsert(some)),
    }
    for writer in writers.values():
        writer.start()
    seen = []
    for _ in range(_ROUNDS):
        seen.append(trouble(links, chance))
        print(seen[-1], flush=True)
        time.sleep(chance.choice((1.0, 6.0)))
        links.mend()
        for name, writer in writers.items():
            settle(cluster, name, writer, (_SEED, seen, name, cluster.directory))
        for writer in writers.values():
            writer.go_on()
    for name, writer in writers.items():
        writer.stop()
        print(f"seed {_SEED}: {name}, {len(writer.acknowledged)} rows, slowest write {writer.slowest_s:.1f} s")
    with lw.connect(cluster.bootstrap) as conn:
        found = conn.table("fluss.faults").scan().to_arrow()["id"].to_pylist()
        assert set(writers["faults"].acknowledged) <= set(found), (_SEED, seen)
        assert len(found) == len(set(found)), (_SEED, seen)
        wanted = writers["keyedfaults"].acknowledged
        state = conn.table("fluss.keyedfaults").lookup(pa.table({"id": pa.array(wanted, pa.int64())}))
        assert state["name"].to_pylist() == [f"row {one}" for one in wanted], (_SEED, seen)
    assert {link for link in links.met if "others" not in link}, "nobody went through the proxies"
