"""Tablets: the buckets of this server with their logs and states, put together. Each part has a file of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor

from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.options import server as rows
from lakeward.options.server_options import ServerOptions
from lakeward.rpc.turns import Turns
from lakeward.runtime.clock import Clock
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.leadership import Leadership
from lakeward.server.buckets.log_settings import log_settings
from lakeward.server.buckets.logs import CopyProgress, Logs
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.flushes import Flushes
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.kv_tables import KvTables
from lakeward.server.tablet.state.states import States
from lakeward.server.tablet.state.tablet_chores import TabletChores
from lakeward.storage.disk.directories import DataDirectory
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.log.log_tablet import Later
from lakeward.storage.log.settings import LogSettings


class Tablets:
    """Which buckets exist, open logs, states by key, chores; and who works on them or waits for rows."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        turns: Turns,
        catalog: Catalog,
        directory: DataDirectory,
        files: OpenFiles,
        later: Later,
        threads: Executor,
        clock: Clock,
        options: Callable[[], ServerOptions],
        lake_floor: Callable[[TableBucket], int | None],
        copied: CopyProgress | None,
        reserve_ids: Callable[[int, int], int],
        led: Leadership | None = None,
    ) -> None:
        """`later` does slow work on disk, `threads` long work on states; `options` are those in force; `lake_floor`
        tells up to where the lake has a bucket; `reserve_ids` takes numbers of an auto-increment column; `led` are the
        buckets that are here, where there are several servers."""

        def settings_of(table: TableInfo) -> LogSettings:
            return log_settings(options(), table)

        self.traffic = Traffic()
        self.busy = BusyBuckets(loop, threads)
        self.waiters = Waiters(loop, turns)
        self.buckets = Buckets(catalog, directory, later, led)
        self.logs = Logs(self.buckets, files, later, settings_of, lake_floor, copied)
        self.flushes = Flushes(loop, self.logs, later)
        engine = options().get(rows.KV_ENGINE)
        self.states = States(self.buckets, self.logs, KvTables(catalog), self.busy, later, engine, reserve_ids)
        self.chores = TabletChores(
            self.buckets, self.logs, self.states, self.busy, clock, lake_floor, loop.call_soon_threadsafe
        )

    def close(self) -> None:
        """Sync and note everything; nobody works on a bucket any more."""
        self.states.close()
        self.logs.close()
