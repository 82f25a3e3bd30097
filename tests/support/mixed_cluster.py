"""Two of Apache's tablet servers and one of ours: started, written to, compared."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pyarrow as pa
from apache_cluster import ApacheCluster

import lakeward as lw

OURS, JAVAS = 3, (0, 1)
#: Servers that are missed soon.
SETTINGS = {"zookeeper.client.session-timeout": "3s", "log.replica.max-lag-time": "5s"}
_FLAGS = tuple(part for key, value in SETTINGS.items() for part in ("-D", f"{key}={value}"))


def start(cluster: ApacheCluster, number: int) -> None:
    """One of either kind."""
    if number == OURS:
        cluster.start_ours(number, *_FLAGS)
    else:
        cluster.start_java(number)


def rows(first: int, count: int) -> pa.Table:
    """Rows by number."""
    ids = range(first, first + count)
    return pa.table({"id": pa.array(ids, pa.int64()), "name": [f"row {one}" for one in ids]})


def agree(cluster: ApacheCluster, table: str) -> bool:
    """Whether all three have the same bytes of every bucket."""
    logs = [cluster.log_bytes(number, table) for number in (*JAVAS, OURS)]
    return logs[0] == logs[1] == logs[2] and bool(logs[0])


class Writer(threading.Thread):
    """Appends or upserts a few rows at a time, and remembers those that were acknowledged."""

    def __init__(self, bootstrap: str, table: str, write: Callable[[lw.Table, pa.Table], object]) -> None:
        super().__init__(daemon=True)
        self._address, self._table, self._write = bootstrap, table, write
        self._is_over, self._may_write = threading.Event(), threading.Event()
        self._may_write.set()
        self.acknowledged: list[int] = []
        self.first, self.slowest_s, self.failures = 0, 0.0, 0
        self.is_idle = threading.Event()

    def run(self) -> None:
        """Until it is stopped; a batch that failed is given up, and nobody knows whether it is there."""
        with lw.connect(self._address) as conn:
            table = conn.table(self._table)
            while not self._is_over.is_set():
                if not self._may_write.wait(0.05):
                    self.is_idle.set()
                    continue
                self.is_idle.clear()
                begun = time.monotonic()
                try:
                    self._write(table, rows(self.first, 20))
                except lw.LakewardError:
                    self.failures += 1
                else:
                    self.acknowledged += range(self.first, self.first + 20)
                self.slowest_s = max(self.slowest_s, time.monotonic() - begun)
                self.first += 20

    def pause(self) -> None:
        """Write nothing until `go_on`."""
        self._may_write.clear()
        self.is_idle.clear()
        assert self.is_idle.wait(120)

    def go_on(self) -> None:
        """Write again."""
        self._may_write.set()

    def stop(self) -> None:
        """Write no more."""
        self._is_over.set()
        self.join(120)
