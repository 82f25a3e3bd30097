"""TabletService: the APIs that touch logs and states, put together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from lakeward.model.bucket import TableBucket
from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import Entropy
from lakeward.server.archive.remote_reads import RemoteReads
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.kv.lazy_kv import KV_APIS, LazyKv
from lakeward.server.tablet.log.append_checks import AppendChecks
from lakeward.server.tablet.log.early import EarlyBatches
from lakeward.server.tablet.log.fetch import Fetches, FetchLimits
from lakeward.server.tablet.log.produce import Appends
from lakeward.server.tablet.requests.request_spans import RequestSpans
from lakeward.server.tablet.scans import Scans
from lakeward.server.tablet.table_changes import TableChanges
from lakeward.server.tablet.tablets import Tablets


class TabletService:
    """One handler per API of the tablet role."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        options: ServerOptions,
        catalog: Catalog,
        tablets: Tablets,
        writes: WriteStop,
        clock: Clock,
        entropy: Entropy,
        lake_floor: Callable[[TableBucket], int | None],
        has_room: Callable[[int], bool],
        remote: RemoteReads | None,
        followed: RequestSpans | None,
        *,
        keeps_files: bool = False,
    ) -> None:
        """`has_room` tells whether there is memory for a large answer; `remote` answers what is no longer here;
        `followed` are the requests whose steps are to be seen."""
        self._followed = followed
        self._options = options
        self._tablets = tablets
        self._writes = writes
        self._clock = clock
        self._entropy = entropy
        self._has_room = has_room
        self._early = EarlyBatches(loop, options.get(rows.WRITER_PARKING_TIMEOUT))
        buckets, logs, waiters = tablets.buckets, tablets.logs, tablets.waiters
        answer_bytes_max = options.get(rows.MAX_ANSWER_SIZE)
        keyed = LazyKv(loop, self._load_keyed)
        checks = AppendChecks(catalog, looks_at_contents=options.get(rows.LOG_BATCH_CHECK) == "full")
        on_thread = partial(loop.run_in_executor, None)
        flushes, traffic = tablets.flushes, tablets.traffic
        appends = Appends(
            checks, buckets, logs, writes, waiters, self._early, flushes, clock.now_ms, on_thread, traffic, followed
        )
        limits = FetchLimits(answer_bytes_max, options.get(rows.MAX_WAITING_FETCHES))
        fetches = Fetches(catalog, buckets, logs, waiters, lake_floor, limits, traffic, remote)
        scans = Scans(buckets, logs, keyed.handle, clock.now_ms, tablets.busy, answer_bytes_max, remote)
        self.handlers: dict[Api, Handler] = {
            Api.PRODUCE_LOG: appends.handle,
            Api.FETCH_LOG: fetches.handle,
            Api.LIST_OFFSETS: scans.list_offsets,
            Api.LIMIT_SCAN: scans.limit_scan,
            Api.GET_TABLE_STATS: scans.table_stats,
            **dict.fromkeys(KV_APIS, keyed.handle),
        }
        self.changes = TableChanges(
            buckets, logs, tablets.states, waiters, traffic, keyed.load, keeps_files=keeps_files
        )
        if any(table.descriptor.has_primary_key for table in catalog.tables()):
            keyed.load()

    def _load_keyed(self) -> Mapping[Api, Handler]:
        """Load the kernels, on a thread of its own; nothing here is shared until it is done."""
        from lakeward.server.tablet.kv.kv_service import KvParts, kv_handlers
        from lakeward.server.tablet.kv.kv_warm_up import warm_up
        from lakeward.server.tablet.kv.lookups import LookupLimits

        warm_up()
        tablets = self._tablets
        parts = KvParts(
            tablets.buckets,
            tablets.states,
            tablets.busy,
            tablets.waiters,
            self._early,
            tablets.flushes,
            self._writes,
            self._clock,
            self._entropy,
            self._has_room,
            tablets.traffic,
            self._followed,
        )
        return kv_handlers(
            parts, LookupLimits(*map(self._options.get, (rows.MAX_KEYS, rows.MAX_ROWS, rows.MAX_ANSWER_SIZE)))
        )
