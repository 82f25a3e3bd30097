"""RemoteRole: copies of logs, state and metadata put together, and the answers that are there."""

from __future__ import annotations

import json
from collections.abc import Callable

from lakeward.model.bucket import TableBucket
from lakeward.protocol.api import Api
from lakeward.rpc.dispatch import Handler
from lakeward.server.archive.remote_logs import RemoteLogs
from lakeward.server.archive.remote_reads import RemoteReads
from lakeward.server.catalog import events
from lakeward.server.chores.housekeeping import Housekeeping
from lakeward.server.remote.access.fenced_store import FencedStore
from lakeward.server.remote.commits import RemoteCommits
from lakeward.server.remote.copies.snapshot_returns import can_read_snapshots
from lakeward.server.remote.log_service import RemoteLogService
from lakeward.server.remote.state_service import RemoteStateService
from lakeward.server.remote.this_server import ThisServer
from lakeward.telemetry.metrics import Metrics


class RemoteRole:
    """All that happens because `remote.data.dir` is set."""

    def __init__(
        self,
        server: ThisServer,
        store: FencedStore,
        logs: RemoteLogs,
        epoch_of: Callable[[TableBucket], int] | None = None,
    ) -> None:
        """`epoch_of` tells in which epoch a bucket is led, where tablet servers of their own do that."""
        self._store = store
        self._commits = None if epoch_of is None else RemoteCommits(server, logs, epoch_of)
        self._decides = server.work.decides
        self._restores = server.work.is_shared and can_read_snapshots()
        self._logs = RemoteLogService(server, store, logs)
        self._state = RemoteStateService(server, store, store.ownership, self._logs)

    @property
    def restores(self) -> bool:
        """Whether a state comes back from snapshots that other servers have written."""
        return self._restores

    @property
    def reads(self) -> RemoteReads:
        """Answers what is in remote storage and not here."""
        return self._logs.reads

    def handlers(self) -> dict[Api, Handler]:
        """The APIs that only remote storage can answer."""
        if not self._decides:
            return {}
        commits = {} if self._commits is None else self._commits.handlers()
        return {Api.GET_KV_SNAPSHOT_METADATA: self._state.snapshot_metadata, **commits}

    def look_at(self, bucket: TableBucket) -> None:
        """A bucket is led from now on: a snapshot of its state may not have been copied yet."""
        self._state.find_uncopied([bucket])

    def let_go(self, bucket: TableBucket) -> None:
        """A bucket is led from here no more: what was not committed of it will not be."""
        self._logs.copies.forget([bucket])
        self._state.snapshots.forget([bucket])

    def hear(self, event: events.Event) -> None:
        """Let what is remote follow the catalog."""
        self._logs.hear(event)
        self._state.hear(event)

    def begin(self, chores: Housekeeping) -> None:
        """Copy from now on, in the background."""
        self._logs.begin(chores)
        self._state.begin(chores)

    def declare(self, metrics: Metrics) -> None:
        """Add what people watch."""
        self._state.declare(metrics)
        self._logs.status.declare(metrics)

    def status(self, table: str = "") -> str:
        """How far copies are, as JSON; with the buckets of a table, if one is named."""
        return json.dumps(self._logs.status.document(table)) + "\n"

    async def stop_logs(self) -> None:
        """Copy no more of the logs."""
        await self._logs.stop()

    async def stop_state(self) -> None:
        """Copy the metadata once more, and say farewell."""
        await self._state.stop()

    async def close(self) -> None:
        """Let go of the store's connections."""
        await self._store.close()
