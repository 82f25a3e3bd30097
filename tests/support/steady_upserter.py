"""A writer of upserts and deletes that never gives up, and a dict that knows what must come of them."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

from kv_model import KvModel, Record
from steady_writer import ROWS, SteadyWriter
from wire_kv import WireKv
from wire_tables import WireTable

from lakeward.protocol.api import Api
from lakeward.protocol.messages.shared import PbTablePath
from lakeward.records.key.bucketing import bucket_of

_KEYS = 900


class SteadyUpserter(SteadyWriter):
    """Writes to a few hundred keys of one bucket again and again. `promised_end` is the last offset it was told."""

    def __init__(self, bootstrap: str, path: PbTablePath, bucket: int, buckets: int, seed: int) -> None:
        super().__init__(bootstrap, path, bucket)
        self._keys = [key for key in range(_KEYS) if bucket_of(_ENCODER.key(key), buckets, None) == bucket]
        self.model = KvModel(key_columns=1, functions=["last_value", "last_value"])
        self.promised_end = 0
        self._chance = random.Random(seed)
        self._ends: deque[int] = deque()

    def _check(self, answer: Any) -> None:
        end = self._ends.popleft()
        assert answer.log_end_offset == end, "a batch was answered with the offset of another"
        self.promised_end = end

    def _new_batch(self) -> bytearray:
        assert self._writer_id is not None
        records = [self._record(number) for number in range(ROWS)]
        self.model.put(records)
        self.model.history.clear()
        self._ends.append(self.model.end_offset)
        rows = [key if row is None else row for key, row in records]
        batch = _ENCODER.batch(rows, writer_id=self._writer_id, sequence=self._next_sequence)
        self._next_sequence += 1
        self._unacknowledged.append(batch)
        return batch

    def _record(self, number: int) -> Record:
        key = self._chance.choice(self._keys)
        if self._chance.random() < 0.2:
            return (key,), None
        return (key,), (key, "x" * self._chance.randrange(30), self._next_sequence * ROWS + number)

    def _send(self, table: WireTable, batch: bytearray) -> int:
        return table.cluster.tablet.send(Api.PUT_KV, WireKv(table).put_request(batch, bucket=self._bucket))


_ENCODER = WireKv(WireTable(None, PbTablePath(database_name="", table_name=""), 0))  # type: ignore[arg-type]
