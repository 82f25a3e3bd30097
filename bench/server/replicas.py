"""Replicas on Apache's tablet servers and on ours: how long a killed leader is missed, how far our follower is behind.

python -m bench.server.replicas [failover] [lag]      needs Java and Maven; prints figures of one run
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

import lakeward as lw

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "support"))

from apache_cluster import ApacheCluster

_OURS = 3
_SETTINGS = {"zookeeper.client.session-timeout": "3s", "log.replica.max-lag-time": "5s"}
_FLAGS = tuple(part for key, value in _SETTINGS.items() for part in ("-D", f"{key}={value}"))
_ROUNDS = 5


def rows(first: int, count: int = 10) -> pa.Table:
    """A few rows."""
    return pa.table({"id": pa.array(range(first, first + count), pa.int64()), "name": ["x"] * count})


def leader_of(cluster: ApacheCluster, table: str) -> int:
    """Who leads the only bucket of a table."""
    (node,) = cluster.leaders(table)
    return int(json.loads(node)["leader"])


def start(cluster: ApacheCluster, number: int, ours: frozenset[int]) -> None:
    """A tablet server of the kind that its number says."""
    if number in ours:
        cluster.start_ours(number, *_FLAGS)
    else:
        cluster.start_java(number)


def missed_s(cluster: ApacheCluster, ours: frozenset[int], name: str, *, ours_leads: bool) -> float | None:
    """Seconds from the leader's end until a write is acknowledged by all in sync again; None if another kind leads."""
    with lw.connect(cluster.bootstrap) as conn:
        table = conn.create_table(
            f"fluss.{name}", "id BIGINT, name STRING", buckets=1, properties={"table.replication.factor": "3"}
        )
        table.append(rows(0))
        leader = leader_of(cluster, name)
        if (leader in ours) != ours_leads:
            return None
        cluster.kill(leader)
        killed = time.monotonic()
    while leader_of(cluster, name) == leader:
        time.sleep(0.05)
    # A client of its own: what is measured is the cluster, not how long a client stays with a leader that is gone.
    with lw.connect(cluster.bootstrap) as conn:
        conn.table(f"fluss.{name}").append(rows(10))
    first_after = time.monotonic()
    start(cluster, leader, ours)
    time.sleep(4)
    return first_after - killed


class Bed:
    """A cluster that stays up for some rounds."""

    def __init__(self, ours: frozenset[int]) -> None:
        self._ours = ours
        self._tables = 0
        self.cluster = ApacheCluster(_SETTINGS)
        for number in (0, 1, _OURS):
            start(self.cluster, number, ours)
        time.sleep(2)

    def missed_s(self, *, ours_leads: bool) -> float:
        """One round, with a leader of the kind that is wanted."""
        while True:
            self._tables += 1
            found = missed_s(self.cluster, self._ours, f"t{self._tables}", ours_leads=ours_leads)
            if found is not None:
                return found


def failovers() -> dict[str, list[float]]:
    """Rounds in turn: what else the machine does meanwhile meets all alike."""
    mixed, java = Bed(frozenset({_OURS})), Bed(frozenset[int]())
    times: dict[str, list[float]] = {"mixed, ours killed": [], "mixed, Java's killed": [], "three Java tablets": []}
    try:
        for _ in range(_ROUNDS):
            times["mixed, ours killed"].append(mixed.missed_s(ours_leads=True))
            times["three Java tablets"].append(java.missed_s(ours_leads=False))
            times["mixed, Java's killed"].append(mixed.missed_s(ours_leads=False))
    finally:
        mixed.cluster.stop()
        java.cluster.stop()
    return times


def lag(rate_mb: float = 50.0, seconds: float = 8.0) -> tuple[float, list[float]]:
    """MB/s that were written, and the lags of our follower in ms, by the sizes of both log files."""
    cluster = ApacheCluster(_SETTINGS)
    try:
        cluster.start_java(0)
        cluster.start_ours(_OURS, *_FLAGS)
        time.sleep(1)
        with lw.connect(cluster.bootstrap) as conn:
            for attempt in range(20):
                name = f"lag{attempt}"
                table = conn.create_table(
                    f"fluss.{name}", "id BIGINT, data BINARY(4096)", buckets=1,
                    properties={"table.replication.factor": "2", "table.log.arrow.compression.type": "NONE"},
                )  # fmt: skip
                table.append(noise(1))
                if leader_of(cluster, name) == 0:
                    break
            return _lag_of(cluster, table, name, rate_mb, seconds)
    finally:
        cluster.stop()


def noise(count: int) -> pa.Table:
    """Rows of 4 KiB that nothing makes smaller."""
    data = np.random.default_rng(1).bytes(4096 * count)
    column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(4096), count, [None, pa.py_buffer(data)])
    return pa.table({"id": pa.array(range(count), pa.int64()), "data": column})


def _lag_of(
    cluster: ApacheCluster, table: lw.Table, name: str, rate_mb: float, seconds: float
) -> tuple[float, list[float]]:
    piece = noise(512)  # 2 MiB
    samples: list[tuple[float, int, int]] = []
    is_over = threading.Event()

    def watch() -> None:
        leader, follower = cluster.log_files(0, name)[0], cluster.log_files(_OURS, name)[0]
        while not is_over.is_set():
            ours = follower.stat().st_size  # first, so that it is never ahead
            samples.append((time.monotonic(), leader.stat().st_size, ours))
            time.sleep(0.002)

    time.sleep(1)
    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.monotonic()
    sent = 0
    # Several batches on their way: one after the other, each would wait for our follower and hold the load back.
    with table.writer(linger_ms=0) as writer:
        while time.monotonic() - begun < seconds:
            writer.write(piece)
            sent += 1
            time.sleep(max(0.0, begun + 2 * sent / rate_mb - time.monotonic()))
        writer.flush()
        took = time.monotonic() - begun
    time.sleep(1)
    is_over.set()
    watcher.join()
    times = np.array([at for at, _, _ in samples])
    leader = np.maximum.accumulate([size for _, size, _ in samples])
    ours = np.array([size for _, _, size in samples])
    reached = times[np.searchsorted(leader, ours, side="right").clip(max=len(times) - 1)]
    # Where the follower has less than the leader, the leader went beyond that size at `reached`.
    behind = np.where(ours < leader, times - reached, 0.0)
    during = times < begun + took
    return 2 * sent / took, (behind[during] * 1000).tolist()


def main(chosen: list[str]) -> None:
    """Print figures."""
    if not chosen or "failover" in chosen:
        for what, times in failovers().items():
            shown = ", ".join(f"{one:.2f}" for one in times)
            print(
                f"until writes are acknowledged again, {what}: median {statistics.median(times):.2f} s ({shown})",
                flush=True,
            )
    if not chosen or "lag" in chosen:
        rate, lags = lag()
        found = np.percentile(lags, [50, 99, 100])
        print(f"our follower at {rate:.0f} MB/s: lag p50 {found[0]:.0f}, p99 {found[1]:.0f}, most {found[2]:.0f} ms")


if __name__ == "__main__":
    main(sys.argv[1:])
