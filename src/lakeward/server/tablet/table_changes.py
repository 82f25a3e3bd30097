"""TableChanges: what the tablet role does when tables are created, altered or dropped."""

from __future__ import annotations

from collections.abc import Callable

from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.buckets.logs import Logs
from lakeward.server.catalog import events
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.server.tablet.state.states import States


class TableChanges:
    """Hears of every change of the catalog."""

    def __init__(
        self,
        buckets: Buckets,
        logs: Logs,
        states: States,
        waiters: Waiters,
        traffic: Traffic,
        load_kernels: Callable[[], None],
        *,
        keeps_files: bool = False,
    ) -> None:
        """`load_kernels` gets the service of primary key tables ready; who `keeps_files` is told by somebody else when
        they may go."""
        self._keeps_files = keeps_files
        self._buckets = buckets
        self._logs = logs
        self._states = states
        self._waiters = waiters
        self._traffic = traffic
        self._load_kernels = load_kernels

    def hear(self, event: events.Event) -> None:
        """Let files, logs, states and those who wait for rows follow the catalog."""
        match event:
            case events.TableCreated() if event.table.descriptor.has_primary_key:
                self._load_kernels()
            case events.TableAltered():
                self._logs.refresh_settings(event.table.table_id)
            case events.TableDropped():
                self._forget(event.buckets, lambda bucket: bucket.table_id == event.table.table_id)
                drop = self._buckets.note_drop if self._keeps_files else self._buckets.remove_table
                drop(event.table)
                self._traffic.pop(event.table.table_id, None)
            case events.PartitionDropped():
                partition_id = event.partition.partition_id
                self._forget(event.buckets, lambda bucket: bucket.partition_id == partition_id)
                if not self._keeps_files:
                    self._buckets.remove_partition(event.table, partition_id, event.partition.name)
            case _:
                pass

    def forget_bucket(self, bucket: TableBucket) -> None:
        """Let go of one bucket, whose files may go, too."""
        self._forget((bucket,), bucket.__eq__)

    def release_bucket(self, bucket: TableBucket) -> None:
        """Let go of one bucket, whose files stay."""
        self._waiters.touch(bucket)
        self._states.forget(bucket.__eq__)
        self._logs.release(bucket)

    def _forget(self, gone: tuple[TableBucket, ...], is_gone: Callable[[TableBucket], bool]) -> None:
        for bucket in gone:
            self._waiters.touch(bucket)
        self._states.forget(is_gone)
        self._logs.forget(is_gone)
