"""States: the states by key that are in use. One is opened when it is first touched, beside the loop if it is large."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.buckets.replication import Replication
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.kv_tables import KvTables
from lakeward.storage.kv.store.snapshots import stored_snapshots
from lakeward.storage.log.log_tablet import Later

if TYPE_CHECKING:
    from lakeward.storage.kv.kv_tablet import KvTablet
    from lakeward.storage.kv.recovery import Recovery
    from lakeward.storage.kv.store.snapshots import Snapshot

_TRY_AGAIN_S = 1.0
#: Hears of a snapshot that was written, on the thread that wrote it.
SnapshotListener = Callable[[TableBucket, "Snapshot"], None]
#: What must be brought from elsewhere before a state can be opened, if there is anything.
Bring = Callable[[TableBucket], Coroutine[Any, Any, None] | None]
#: Long work that must be done on a state before a request, if there is any.
Before = Callable[["KvTablet"], Callable[[], None] | None]


class States:
    """Bucket → state, as far as they are open."""

    def __init__(
        self,
        buckets: Buckets,
        logs: Logs,
        tables: KvTables,
        busy: BusyBuckets,
        later: Later,
        engine: str,
        reserve_ids: Callable[[int, int], int],
    ) -> None:
        """`engine` is the kind of store; `reserve_ids` takes numbers of a table's auto-increment column."""
        self._buckets = buckets
        self._logs = logs
        self._tables = tables
        self._busy = busy
        self._later = later
        self._engine = engine
        self._reserve_ids = reserve_ids
        self._states: dict[TableBucket, KvTablet] = {}
        self._unopened: dict[TableBucket, LakewardError] = {}
        self._listeners: list[SnapshotListener] = []
        self._bring: Bring | None = None
        #: Buckets whose state is being opened beside the loop.
        self._opening: set[TableBucket] = set()

    def subscribe(self, listener: SnapshotListener) -> None:
        """Hear of every snapshot that is written from now on."""
        self._listeners.append(listener)

    def bring_by(self, bring: Bring) -> None:
        """Ask, before a state is opened, whether something of it must be brought from elsewhere."""
        self._bring = bring

    def open(self, bucket: TableBucket, version: int | None = None) -> KvTablet:
        """The state of a bucket, opened if need be; `version` is that of the API it is asked through."""
        table = self._buckets.table(bucket)
        if not table.descriptor.has_primary_key:
            raise ErrorCode.NON_PRIMARY_KEY_TABLE.error(f"Table {table.path} is not a primary key table.")
        if version == 0:
            _check_old_client(table)
        if bucket in self._busy:  # since the request was let in
            raise ErrorCode.STORAGE_BACKPRESSURE.error(f"{bucket} is being worked on; try again in a moment.")
        state = self._states.get(bucket)
        if state is None:
            wrong = self._unopened.get(bucket)
            if wrong is not None:
                raise wrong
            state = self._keep(bucket, self._recovery(bucket).run())
        return state

    @property
    def replication(self) -> Replication:
        """Who leads a bucket, and how far its replicas have it."""
        return self._buckets.replication

    def check(self, bucket: TableBucket) -> None:
        """Refuse a bucket that was dropped since its state was opened."""
        self._buckets.table(bucket)

    def drop_snapshots(self, bucket: TableBucket, offset: int) -> None:
        """Take away the snapshots of a state that know more than its log will, which is about to end at an offset."""
        for snapshot in stored_snapshots(self._buckets.disk, self._buckets.kv_directory(bucket)):
            if snapshot.log_offset > offset:
                self._buckets.disk.remove_tree(snapshot.path)

    def find(self, bucket: TableBucket) -> KvTablet | None:
        """The state of a bucket if it is open."""
        return self._states.get(bucket)

    def all(self) -> list[tuple[TableBucket, KvTablet]]:
        """The states in use."""
        return list(self._states.items())

    # -- long work, beside the loop; the bucket is busy meanwhile

    def prepare(self, bucket: TableBucket, before: Before | None) -> None:
        """Begin what takes long and must be done before a request: opening a state of many rows, or `before`."""
        if bucket in self._busy:
            return
        state = self._states.get(bucket)
        if state is None:
            self._open_beside(bucket)
        elif before is not None:
            self._work(bucket, before(state))

    def grow(self, bucket: TableBucket) -> None:
        """Begin what a later put would have to do first."""
        state = self._states.get(bucket)
        if state is not None:
            self._work(bucket, state.growth())

    def _work(self, bucket: TableBucket, work: Callable[[], None] | None) -> None:
        if work is not None and bucket not in self._busy:
            self._busy.begin(bucket, self._run(work))

    async def _run(self, work: Callable[[], None]) -> None:
        await self._busy.on_thread(work)

    # -- opening

    def _open_beside(self, bucket: TableBucket) -> None:
        """Begin to open a state of many rows; what is short, or fails at once, is left to `open`."""
        if bucket in self._unopened or not self._buckets.has_primary_key(bucket.table_id):
            return
        try:
            self._buckets.table(bucket)  # only a leader needs it
            recovery = self._recovery(bucket)
            missing = None if self._bring is None else self._bring(bucket)
        except LakewardError:
            return
        if missing is not None or not recovery.is_short:
            self._busy.begin(bucket, self._recover(bucket, recovery, missing))

    async def _recover(
        self, bucket: TableBucket, recovery: Recovery, missing: Coroutine[Any, Any, None] | None
    ) -> None:
        self._opening.add(bucket)
        try:
            if missing is not None:
                await missing
            for piece in recovery.pieces():
                await self._busy.on_thread(piece)
            self._buckets.table(bucket)  # it may have been dropped meanwhile
            if bucket not in self._opening:
                raise ErrorCode.NOT_LEADER_OR_FOLLOWER.error(f"{bucket} was led by another server meanwhile.")
        except Exception as wrong:
            known = wrong if isinstance(wrong, LakewardError) else ErrorCode.KV_STORAGE.error(f"{bucket}: {wrong!r}")
            self._unopened[bucket] = known
            # Those who waited are told when this ends; whoever comes later has it tried again.
            asyncio.get_running_loop().call_later(_TRY_AGAIN_S, self._unopened.pop, bucket)
            recovery.close()
            raise
        finally:
            self._opening.discard(bucket)
        self._keep(bucket, recovery)

    def _recovery(self, bucket: TableBucket) -> Recovery:
        from lakeward.storage.kv.recovery import Recovery  # heavy: it brings compiled kernels along

        directory = self._buckets.kv_directory(bucket)
        return Recovery(directory, self._logs.open(bucket), self._tables.get(bucket.table_id), self._engine)

    def _keep(self, bucket: TableBucket, recovery: Recovery) -> KvTablet:
        from lakeward.storage.kv.kv_tablet import KvTablet

        table_id = bucket.table_id
        state = KvTablet(
            recovery.directory,
            self._logs.open(bucket),
            partial(self._tables.get, table_id),
            recovery,
            self._later,
            partial(self._reserve_ids, table_id),
            partial(self._tell, bucket),
        )
        self._states[bucket] = state
        return state

    def _tell(self, bucket: TableBucket, snapshot: Snapshot) -> None:
        for listener in self._listeners:
            listener(bucket, snapshot)

    # -- closing

    def forget(self, is_gone: Callable[[TableBucket], bool]) -> None:
        """Let go of the states of buckets that were dropped, or that another server may lead by now."""
        self._opening = {bucket for bucket in self._opening if not is_gone(bucket)}
        for bucket in [b for b in self._states if is_gone(b)]:
            self._busy.when_free(bucket, self._states.pop(bucket).close)

    def close(self) -> None:
        """Let go of all memory and files."""
        for state in self._states.values():
            state.close()
        self._states.clear()


def _check_old_client(table: TableInfo) -> None:
    """A client of version 0 would encode the keys of such a table in another way than they are stored."""
    properties = table.descriptor.properties
    own_bucket_key = tuple(table.descriptor.bucket_keys) != table.descriptor.physical_primary_key
    if "table.datalake.format" in properties and properties.get("table.kv.format-version") == "2" and own_bucket_key:
        raise ErrorCode.UNSUPPORTED_VERSION.error(f"The client is too old for the keys of table {table.path}.")
