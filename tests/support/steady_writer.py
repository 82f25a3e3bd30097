"""A writer that never gives up: idempotent batches, five in flight, sent again after every broken connection."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from arrow_batches import ids_batch
from wire_client import WireCluster
from wire_tables import WireTable

from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath

_IN_FLIGHT = 5
ROWS = 20


class SteadyWriter(threading.Thread):
    """Appends the numbers 0, 1, 2 … to one bucket. `acknowledged` is how many of them the server has promised."""

    def __init__(self, bootstrap: str, path: PbTablePath, bucket: int) -> None:
        super().__init__(daemon=True, name=f"writer {bucket}")
        self._address = bootstrap
        self._path = path
        self._bucket = bucket
        self._writer_id: int | None = None
        self._next_sequence = 0
        self._unacknowledged: deque[bytearray] = deque()
        self._enough = threading.Event()
        self.acknowledged = 0
        self.failure: BaseException | None = None

    def finish(self) -> int:
        """Write no more, wait until everything is acknowledged; returns how many numbers there are."""
        self._enough.set()
        self.join(60)
        assert not self.is_alive(), "the writer hangs"
        if self.failure is not None:
            raise self.failure
        assert self.acknowledged == self._next_sequence * ROWS
        return self.acknowledged

    def run(self) -> None:
        """Connect, write, and connect again, until told to finish."""
        try:
            while not self._enough.is_set() or self._unacknowledged:
                try:
                    with WireCluster.of(self._address) as cluster:
                        self._write(WireTable.find(cluster, self._path))
                except (ConnectionError, TimeoutError, OSError):
                    time.sleep(0.02)  # the server is being started again
        except BaseException as wrong:  # noqa: BLE001 - handed to the test
            self.failure = wrong

    def _write(self, table: WireTable) -> None:
        if self._writer_id is None:
            self._writer_id = table.new_writer()
        tablet = table.cluster.tablet
        asked = deque(self._send(table, batch) for batch in self._unacknowledged)
        while not self._enough.is_set() or self._unacknowledged:
            while len(asked) < _IN_FLIGHT and not self._enough.is_set():
                asked.append(self._send(table, self._new_batch()))
            (answer,) = tablet.answer(asked[0]).buckets_resp
            assert not answer.error_code, answer
            self._check(answer)
            asked.popleft()
            self._unacknowledged.popleft()
            self.acknowledged += ROWS

    def _check(self, answer: Any) -> None:
        assert answer.base_offset == self.acknowledged, "a batch stands where it does not belong"

    def _new_batch(self) -> bytearray:
        assert self._writer_id is not None
        first = self._next_sequence * ROWS
        batch = ids_batch(range(first, first + ROWS), writer_id=self._writer_id, sequence=self._next_sequence)
        self._next_sequence += 1
        self._unacknowledged.append(batch)
        return batch

    def _send(self, table: WireTable, batch: bytearray) -> int:
        return table.cluster.tablet.send(Api.PRODUCE_LOG, table.produce_request(batch, bucket=self._bucket))
