"""The APIs of primary key tables. Imported when the first of them is asked for: it brings compiled kernels along."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.kv.first_rows import FirstRows
from lakeward.server.tablet.kv.kv_gate import KvGate
from lakeward.server.tablet.kv.kv_scanners import KvScanners
from lakeward.server.tablet.kv.lookups import LookupLimits, Lookups
from lakeward.server.tablet.kv.puts import Puts
from lakeward.server.tablet.kv.row_counts import RowCounts
from lakeward.server.tablet.log.early import EarlyBatches
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.flushes import Flushes
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.kv_tablet import KvTablet


class KvParts(NamedTuple):
    """What the service needs."""

    buckets: Buckets
    states: States
    busy: BusyBuckets
    waiters: Waiters
    early: EarlyBatches
    flushes: Flushes
    writes: WriteStop
    clock: Clock
    entropy: Entropy
    #: Tells whether there is memory for a large answer.
    has_room: Callable[[int], bool]
    traffic: Traffic
    followed: RequestSpans | None


def kv_handlers(parts: KvParts, limits: LookupLimits) -> dict[Api, Handler]:
    """Puts, lookups and scans of state, behind the gate."""
    states, busy, now_ms = parts.states, parts.busy, parts.clock.now_ms
    gate = KvGate(states, busy)
    puts = Puts(
        states, parts.writes, busy, parts.waiters, parts.early, parts.flushes, now_ms, parts.traffic, parts.followed
    )
    lookups = Lookups(
        parts.buckets, states, parts.writes, busy, parts.waiters, limits, parts.has_room, now_ms, parts.traffic
    )
    scanners = KvScanners(parts.buckets, states, busy, parts.entropy, now_ms)
    first_rows = FirstRows(states, busy, limits.answer_bytes)
    counts = RowCounts(parts.buckets, states)
    return {
        Api.PUT_KV: gate.guard(puts.read, puts.answer),
        Api.LOOKUP: gate.guard(lookups.read, lookups.look_up),
        Api.PREFIX_LOOKUP: gate.guard(lookups.read_prefixes, lookups.prefix_look_up, before=KvTablet.ordering),
        Api.SCAN_KV: gate.guard(scanners.read, scanners.answer),
        Api.LIMIT_SCAN: gate.guard(first_rows.read, first_rows.answer),
        Api.GET_TABLE_STATS: gate.guard(counts.read, counts.answer),
    }
