"""The APIs of primary key tables. Imported when the first of them is asked for: it brings compiled kernels along."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.runtime.entropy import Entropy
from lakeward.server.tablet.early import EarlyBatches
from lakeward.server.tablet.kv_scanners import KvScanners
from lakeward.server.tablet.lookups import Lookups
from lakeward.server.tablet.puts import Puts
from lakeward.server.tablet.tablets import Tablets
from lakeward.server.tablet.waiting import Waiters


class KvService:
    """Puts, lookups and scans of state."""

    def __init__(
        self, tablets: Tablets, waiters: Waiters, early: EarlyBatches, entropy: Entropy, now_ms: Callable[[], int]
    ) -> None:
        self.lookups = Lookups(tablets, waiters, now_ms)
        puts = Puts(tablets, waiters, early, now_ms)
        scanners = KvScanners(tablets, entropy, now_ms)
        self.handlers: dict[Api, Handler] = {
            Api.PUT_KV: puts.handle,
            Api.LOOKUP: self.lookups.look_up,
            Api.PREFIX_LOOKUP: self.lookups.prefix_look_up,
            Api.SCAN_KV: scanners.handle,
        }
