"""kill -9 at random moments: acknowledged upserts survive, no batch is there twice, the state equals the changelog.

CRASH_ROUNDS and CRASH_SEED as for the test of logs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from crash_settings import OPTIONS, ROUNDS, SEED
from server_process import ServerProcess
from steady_upserter import SteadyUpserter
from wire_client import WireCluster
from wire_kv import Row, WireKv, play
from wire_tables import WireTable, create_database

from lakeward.protocol.messages.shared import PbTablePath

BUCKETS = 2
PATH = PbTablePath(database_name="crash", table_name="state")
SNAPSHOTS_OFTEN = {"kv__snapshot__interval": "100ms"}


class Follower:
    """Plays the changelog of a bucket from where it left off; the state must be what comes of it."""

    def __init__(self, bucket: int) -> None:
        self.bucket = bucket
        self.state: dict[Any, Row] = {}
        self.log: list[tuple[int, str, Row]] = []
        self.end = 0

    def check(self, table: WireKv) -> None:
        """Compare the state of one moment with the changelog up to it."""
        answer = table.open_scan(bucket=self.bucket)
        assert not answer.has_more_results
        found = {row[0]: row for row in table.rows_of(answer)}
        news = [c for c in table.changelog(bucket=self.bucket, start=self.end) if c[0] < answer.log_offset]
        play(iter(news), self.state)
        assert self.state == found, "state and changelog differ"
        self.log += news
        self.end = answer.log_offset


@pytest.mark.crash
@pytest.mark.parametrize("engine", ["hash", "rocksdb"])
@pytest.mark.timeout(120 + 30 * ROUNDS)
def test_acknowledged_upserts_survive(new_server: Callable[..., ServerProcess], engine: str) -> None:
    """Writers go on through every crash; in the end state and changelog are those of a dict."""
    print(f"CRASH_SEED={SEED}")
    chance = random.Random(SEED)
    rounds = ROUNDS if engine == "hash" else max(ROUNDS // 3, 1)
    server = new_server(**OPTIONS, **SNAPSHOTS_OFTEN, kv__engine=engine)
    with WireCluster.of(server.bootstrap) as cluster:
        create_database(cluster, "crash")
        WireKv.create(cluster, "crash", "state", bucket_count=BUCKETS)
    writers = [SteadyUpserter(server.bootstrap, PATH, bucket, BUCKETS, SEED + bucket) for bucket in range(BUCKETS)]
    followers = [Follower(bucket) for bucket in range(BUCKETS)]
    for writer in writers:
        writer.start()
    for _ in range(rounds):
        time.sleep(chance.uniform(0.05, 1.0))
        promised = [writer.promised_end for writer in writers]
        server.restart(kill=True)
        with WireCluster.of(server.bootstrap) as cluster:
            table = WireKv(WireTable.find(cluster, PATH))
            for follower, end in zip(followers, promised, strict=True):
                follower.check(table)
                assert follower.end >= end, f"{end - follower.end} acknowledged changes are gone"
    for writer in writers:
        writer.finish()
    with WireCluster.of(server.bootstrap) as cluster:
        table = WireKv(WireTable.find(cluster, PATH))
        for follower, writer in zip(followers, writers, strict=True):
            follower.check(table)
            assert follower.state == {key[0]: row for key, row in writer.model.state.items()}
            assert follower.log == writer.model.log
            assert follower.end == writer.promised_end
    print(f"changes: {[writer.promised_end for writer in writers]}")
    assert all(writer.promised_end > 0 for writer in writers)
    assert server.stop() == 0
