"""The APIs of primary key tables. Imported when the first of them is asked for: it brings compiled kernels along."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.runtime.entropy import Entropy
from lakeward.server.tablet.buckets.busy import BusyBuckets
from lakeward.server.tablet.buckets.tablets import Tablets
from lakeward.server.tablet.kv.first_rows import FirstRows
from lakeward.server.tablet.kv.kv_gate import KvGate
from lakeward.server.tablet.kv.kv_scanners import KvScanners
from lakeward.server.tablet.kv.lookups import LookupLimits, Lookups
from lakeward.server.tablet.kv.puts import Puts
from lakeward.server.tablet.log.early import EarlyBatches
from lakeward.server.tablet.log.waiting import Waiters


class KvService:
    """Puts, lookups and scans of state."""

    def __init__(
        self,
        tablets: Tablets,
        busy: BusyBuckets,
        waiters: Waiters,
        early: EarlyBatches,
        entropy: Entropy,
        limits: LookupLimits,
        has_room: Callable[[int], bool],
        now_ms: Callable[[], int],
    ) -> None:
        self.gate = KvGate(tablets, busy)
        self.lookups = Lookups(tablets, self.gate, busy, waiters, limits, has_room, now_ms)
        self.first_rows = FirstRows(tablets, self.gate, busy, limits.answer_bytes)
        puts = Puts(tablets, self.gate, waiters, early, now_ms)
        scanners = KvScanners(tablets, self.gate, busy, entropy, now_ms)
        self.handlers: dict[Api, Handler] = {
            Api.PUT_KV: puts.handle,
            Api.LOOKUP: self.lookups.look_up,
            Api.PREFIX_LOOKUP: self.lookups.prefix_look_up,
            Api.SCAN_KV: scanners.handle,
        }
