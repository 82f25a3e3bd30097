"""Appender: manifests made and carried out. Partitions, offsets, writer ids; batches out of parts → lanes → servers."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from lakeward.client.admin.offsets import Place
from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.writer_ids import WriterIdentity, WriterIds
from lakeward.client.forms.results import BucketId
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.staged.commit.log_headers import read_headers
from lakeward.client.staged.commit.planning import Plan
from lakeward.client.staged.commit.progress import rest_of, stored_batches
from lakeward.client.staged.commit.staged_bytes import StagedBytes, load_batch
from lakeward.client.staged.parts.manifest import BucketAppend, Manifest, WriterChain
from lakeward.client.staged.parts.table_access import TableAccess
from lakeward.client.write.delivery import Delivery, KvDelivery, LogDelivery
from lakeward.client.write.pipeline import submit_encoded
from lakeward.client.write.sender import Sender
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.options.table import REPLICATION_FACTOR
from lakeward.runtime.clock import Clock

#: A chain is given up when it was idle for so long, or has written to so many buckets.
_CHAIN_IDLE_MS_MAX, _CHAIN_BUCKETS_MAX = 3600 * 1000, 2000
#: Whoever was silent for so long between two batches (a laptop that slept) asks the log before going on.
_SILENCE_MS_MAX = 600 * 1000
_AT_ONCE = 16
_REFUSED = {ErrorCode.OUT_OF_ORDER_SEQUENCE, ErrorCode.UNKNOWN_WRITER_ID}
#: What is appended shows in the log when all replicas have it.
_UNSEEN_S_MAX, _UNSEEN_POLL_S = 30.0, 0.5


class WriterForgottenError(Exception):
    """Servers do not know the writer of these buckets any more, and the log shows exactly what they hold of it."""

    def __init__(self, forgotten: Sequence[BucketAppend]) -> None:
        super().__init__(f"{len(forgotten)} buckets")
        self.forgotten = forgotten


class _SilenceError(Exception):
    """Too much time has passed since the log was asked."""


class _NoFreshIds(WriterIds):
    """A staged append never changes its writer id by itself, and nobody else may use it."""

    async def fresh(self, path: TablePath) -> int:
        """Refused."""
        raise ErrorCode.UNKNOWN_WRITER_ID.error(f"The server does not expect this batch of a staged write to {path}.")

    def give_back(self, identity: WriterIdentity) -> None:
        """Not to anybody."""


class Appender:
    """Appends of one table. `tell` hears of every step; whatever it raises ends the commit there."""

    def __init__(self, access: TableAccess, clock: Clock, tell: Callable[[str], None]) -> None:
        self._access = access
        self._clock = clock
        self._tell = tell

    # -- before -------------------------------------------------------------------------------------------------------

    async def manifest_of(self, batch_id: int, plan: Plan, chain: WriterChain | None) -> Manifest:
        """Where everything will go. Missing partitions are created; nothing is appended."""
        access = self._access
        await self._ensure(place.partition for place in plan.batches)
        places = {id_: Place(self._bucket(id_), id_) for id_ in plan.batches}
        ends = await access.offsets.of(list(places.values()), "latest")
        chain = await self._usable(chain)
        buckets = [
            BucketAppend(
                id_.partition,
                places[id_].bucket.partition_id,
                id_.bucket,
                chain.writer_id,
                0,
                ends[places[id_]],
                tuple(batches),
            )
            for id_, batches in plan.batches.items()
        ]
        buckets = [replace(b, first_sequence=chain.sequences.get(b.key, 0)) for b in buckets]
        return Manifest(
            batch_id,
            1,
            str(access.path),
            access.info.table_id,
            plan.target_columns,
            plan.rows,
            plan.size_bytes,
            plan.files,
            tuple(buckets),
            chain,
            plan.data,
        )

    async def _ensure(self, partitions: Iterable[str | None]) -> None:
        """Make partitions exist now; what was known of them when the last batch came may be outdated."""
        known = Partitions(self._access.cluster, self._access.info)
        gate = asyncio.Semaphore(_AT_ONCE)

        async def one(partition: str) -> None:
            async with gate:
                await known.ensure(partition)

        await asyncio.gather(*(one(p) for p in dict.fromkeys(partitions) if p is not None))

    async def _usable(self, chain: WriterChain | None) -> WriterChain:
        now_ms = self._clock.now_ms()
        if (
            chain is not None
            and now_ms - chain.used_ms < _CHAIN_IDLE_MS_MAX
            and len(chain.sequences) < _CHAIN_BUCKETS_MAX
        ):
            return chain
        return WriterChain(await self._access.ids.fresh(self._access.path), {}, now_ms)

    def _bucket(self, id_: BucketId) -> TableBucket:
        partition_id = None if id_.partition is None else self._access.partitions.id_of(id_.partition)
        return TableBucket(self._access.info.table_id, partition_id, id_.bucket)

    async def rename_writer(self, manifest: Manifest, forgotten: Sequence[BucketAppend]) -> Manifest:
        """The next revision: what is left for forgotten buckets goes under a fresh writer id, from sequence 0."""
        writer_id = await self._access.ids.fresh(self._access.path)
        anew = {b.key: replace(b, writer_id=writer_id, first_sequence=0) for b in forgotten}
        buckets = tuple(anew.get(b.key, b) for b in manifest.buckets)
        return replace(manifest, revision=manifest.revision + 1, buckets=buckets)

    # -- appending ----------------------------------------------------------------------------------------------------

    async def append(self, manifest: Manifest, *, untouched: bool) -> None:
        """Append what the log lacks of a manifest; all of it, when nobody has touched it before."""
        left = list(manifest.buckets) if untouched else await self.left_of(manifest)
        while left:
            try:
                await self._send(manifest, left)
            except _SilenceError:
                left = await self.left_of(manifest)
            except LakewardError as wrong:
                if wrong.code not in _REFUSED:
                    raise
                left = await self._after_refusal(manifest, left)
            else:
                return

    async def left_of(self, manifest: Manifest) -> list[BucketAppend]:
        """What the log lacks, found from the headers of its batches. A partition that was dropped lacks nothing."""
        access = self._access
        alive = manifest.buckets
        if access.info.descriptor.is_partitioned:
            ids = {p.id for p in await access.partitions.all()}
            alive = tuple(b for b in alive if b.partition_id in ids)
        places = {b.key: Place(b.at(manifest.table_id), BucketId(b.partition, b.bucket)) for b in alive}
        ends = await access.offsets.of(list(places.values()), "latest")
        gate = asyncio.Semaphore(_AT_ONCE)

        async def find_rest(to: BucketAppend) -> BucketAppend:
            place = places[to.key]
            async with gate:
                found = await read_headers(access, place.bucket, to.partition, to.start_offset, ends[place])
            stored = stored_batches(to, found.headers, from_start=found.from_start, compacted=access.is_compacted)
            return rest_of(to, stored)

        found = await asyncio.gather(*(find_rest(b) for b in alive))
        return [b for b in found if b.batches]

    async def _after_refusal(self, manifest: Manifest, left: Sequence[BucketAppend]) -> list[BucketAppend]:
        """Somebody else carries out the same manifest and is ahead, or the server has forgotten the writer."""
        wait_s = _UNSEEN_S_MAX if REPLICATION_FACTOR.read(self._access.info.descriptor.properties) != 1 else 0.0
        while True:
            now_left = await self.left_of(manifest)
            if _count(now_left) < _count(left):
                return now_left
            if wait_s <= 0:
                break
            await asyncio.sleep(_UNSEEN_POLL_S)
            wait_s -= _UNSEEN_POLL_S
        if self._access.is_compacted:
            raise ErrorCode.OUT_OF_ORDER_SEQUENCE.error(
                f"The servers do not know how far an interrupted commit to {self._access.path} came, and its changelog "
                "is compacted, so that the log cannot tell. Check the rows, then delete the manifest."
            )
        knows = await asyncio.gather(*(self._is_expected(manifest, bucket) for bucket in now_left))
        forgotten = [bucket for bucket, known in zip(now_left, knows, strict=True) if not known]
        if forgotten:
            raise WriterForgottenError(forgotten)
        return await self.left_of(manifest)

    async def _is_expected(self, manifest: Manifest, bucket: BucketAppend) -> bool:
        """Send the next batch of one bucket alone, so that the answer is about nothing else."""
        try:
            await self._send(manifest, [replace(bucket, batches=bucket.batches[:1])])
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.UNKNOWN_WRITER_ID:
                raise
            return False
        return True

    async def _send(self, manifest: Manifest, left: Sequence[BucketAppend]) -> None:
        """Send batches, all buckets in turn, and wait until each is acknowledged."""
        access = self._access
        delivery = self._delivery(manifest)
        senders: dict[int, Sender] = {}
        for to in left:
            if to.writer_id not in senders:
                own = {b.at(manifest.table_id): b.first_sequence for b in left if b.writer_id == to.writer_id}
                identity = WriterIdentity(to.writer_id, own)
                senders[to.writer_id] = Sender(
                    access.cluster, access.info, delivery, _NoFreshIds(access.cluster), identity
                )
        turns = deque((to, 0) for to in left)
        heard_ms = self._clock.now_ms()
        try:
            while turns:
                to, number = turns.popleft()
                sender = senders[to.writer_id]
                await sender.drain(access.cluster.settings.buffer_bytes)
                rows, batch = to.batches[number].rows, await self._load(manifest, to, number)
                self._tell("append")
                now_ms = self._clock.now_ms()
                if now_ms - heard_ms > _SILENCE_MS_MAX:
                    raise _SilenceError
                heard_ms = now_ms
                submit_encoded(sender, to.at(manifest.table_id), to.partition, rows, batch)
                if number + 1 < len(to.batches):
                    turns.append((to, number + 1))
            for sender in senders.values():
                await sender.drain()
        finally:
            for sender in senders.values():
                if sender.unsettled_batches:
                    sender.fail(ErrorCode.OPERATION_NOT_ATTEMPTED.error("The commit has ended."))
                sender.close()

    async def _load(self, manifest: Manifest, to: BucketAppend, number: int) -> StagedBytes:
        loop = asyncio.get_running_loop()
        is_keyed = self._access.info.descriptor.has_primary_key
        batch = to.batches[number]
        return await loop.run_in_executor(self._access.workers, load_batch, manifest, batch, is_keyed)

    def _delivery(self, manifest: Manifest) -> Delivery:
        info = self._access.info
        if not info.descriptor.has_primary_key:
            return LogDelivery(info)

        return KvDelivery(info, manifest.target_columns, TableKeys(info).check_version)


def _count(left: Sequence[BucketAppend]) -> int:
    return sum(len(b.batches) for b in left)
