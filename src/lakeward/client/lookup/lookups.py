"""Lookups: many keys in one call, the values found in the order of the keys."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.packed_bytes import PackedBytes, spans_of
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup.bucket_calls import BucketCalls, KeyGroup
from lakeward.client.lookup.lookup_kernels import (
    ABSENT,
    BUCKET,
    DAMAGED,
    HEAD_WORDS,
    KEY_TAG,
    PARTITION,
    REFUSED,
    cut_values,
    fields_bytes,
    put_fields,
)
from lakeward.client.upsert.changes import spread
from lakeward.errors import ErrorCode, LakewardError, NotFoundError
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode, encode
from lakeward.protocol.messages.kv import (
    PbLookupReqForBucket,
    PbLookupRespForBucket,
    PbPrefixLookupReqForBucket,
    PrefixLookupRequest,
    PrefixLookupResponse,
)
from lakeward.protocol.messages.packed_kv import PackedLookupRequest, PackedLookupResponse
from lakeward.records.kernels.spans import I64, U8, Spans, read_only
from lakeward.rpc.channel import Channel

_KEYS_PER_REQUEST = 4096
_IN_FLIGHT = 32
T = TypeVar("T")

#: Below this many keys a thread costs more than it saves.
_ENCODE_HERE_KEYS = 2000


@dataclass(frozen=True, slots=True)
class AskedKeys:
    """Keys as they are asked for: their columns, and their bytes."""

    rows: pa.RecordBatch
    keys: PackedBytes

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class FoundValues:
    """Values that were found: `places` says for each asked key which value is its own, −1 where there is none."""

    values: Spans
    places: I64

    @property
    def missing(self) -> NDArray[np.intp]:
        """Places of the keys that were not found."""
        return np.flatnonzero(self.places == ABSENT)


class _Answers:
    """Values as they come in, bucket by bucket."""

    def __init__(self, keys: int) -> None:
        self.places: I64 = np.full(keys, ABSENT, np.int64)
        self._sources: list[U8] = []
        self._starts: list[I64] = []
        self._ends: list[I64] = []
        self._count = 0

    def add(self, group: KeyGroup, body: U8, starts: I64, ends: I64) -> None:
        """One bucket's values, one per key, absent ones included."""
        present = starts != ABSENT
        if not present.all():
            starts, ends = starts[present], ends[present]
        self.places[group.which[present]] = np.arange(self._count, self._count + len(starts))
        self._count += len(starts)
        self._sources.append(body)
        self._starts.append(starts)
        self._ends.append(ends)

    def collect(self) -> FoundValues:
        """All of them."""
        if not self._sources:
            return FoundValues(Spans.of([]), self.places)
        return FoundValues(spans_of(self._sources, self._starts, self._ends), self.places)


class Lookups:
    """Asks the buckets of one table for keys and for prefixes of keys."""

    def __init__(self, cluster: Cluster, info: TableInfo, partitions: Partitions, keys: TableKeys) -> None:
        self._cluster = cluster
        self._info = info
        self._partitions = partitions
        self._keys = keys
        self._calls = BucketCalls(cluster, info, keys_max=_KEYS_PER_REQUEST, in_flight_max=_IN_FLIGHT)

    # -- keys ---------------------------------------------------------------------------------------------------------

    async def encode(self, rows: pa.RecordBatch) -> AskedKeys:
        """The bytes of keys; many of them on a thread."""
        if rows.num_rows < _ENCODE_HERE_KEYS:
            return AskedKeys(rows, self._keys.encode(rows))
        loop = asyncio.get_running_loop()
        return AskedKeys(rows, await loop.run_in_executor(self._cluster.workers, self._keys.encode, rows))

    async def find(
        self,
        asked: AskedKeys,
        bucketing: Bucketing,
        *,
        insert_missing: bool = False,
        only: NDArray[np.intp] | None = None,
    ) -> FoundValues:
        """The values of the keys, or of `only` some of them. With `insert_missing` keys that have none get one."""

        async def ask() -> FoundValues:
            answers = _Answers(len(asked))

            async def send(channel: Channel, part: Sequence[KeyGroup]) -> Mapping[KeyGroup, LakewardError]:
                return await self._look_up(channel, part, asked.keys, answers, insert_missing)

            groups = await self._groups(asked.rows, asked.keys, bucketing, only, create=insert_missing)
            await self._calls.settle(groups, send)
            return answers.collect()

        return await _knowing_partitions(ask)

    async def _groups(
        self,
        rows: pa.RecordBatch,
        keys: PackedBytes,
        bucketing: Bucketing,
        only: NDArray[np.intp] | None = None,
        *,
        create: bool = False,
    ) -> list[KeyGroup]:
        """The keys by bucket; keys of partitions that do not exist are in no group, unless those are created."""
        buckets = self._keys.buckets(rows, keys, bucketing)
        chosen = None if only is None else np.isin(np.arange(len(keys)), only)
        found = []
        for to, which in spread(rows, self._keys, buckets, bucketing):
            if chosen is not None:
                which = which[chosen[which]]
            assert to.bucket is not None
            partition_id = None
            if to.partition is not None and len(which):
                if create:
                    await self._partitions.ensure(to.partition)
                partition_id = await self._partitions.find(to.partition)
                if partition_id is None:
                    continue
            if len(which):
                found.append(KeyGroup(TableBucket(self._info.table_id, partition_id, to.bucket), to.partition, which))
        return found

    async def _look_up(
        self, channel: Channel, groups: Sequence[KeyGroup], keys: PackedBytes, answers: _Answers, insert_missing: bool
    ) -> dict[KeyGroup, LakewardError]:
        self._keys.check_version(channel, Api.LOOKUP)
        settings = self._cluster.settings
        request = PackedLookupRequest(
            table_id=self._info.table_id,
            buckets_req=tuple(_packed_keys(group, keys) for group in groups),
            insert_if_not_exists=True if insert_missing else None,
            acks=settings.acks if insert_missing else None,
            timeout_ms=settings.request_timeout_ms if insert_missing else None,
        )
        answer: PackedLookupResponse = await channel.request(
            Api.LOOKUP, request, timeout_ms=settings.request_timeout_ms, answer=PackedLookupResponse
        )
        return _read_all(answer.buckets_resp, groups, answers)

    # -- prefixes -----------------------------------------------------------------------------------------------------

    async def find_by_prefix(self, rows: pa.RecordBatch, bucketing: Bucketing) -> Spans:
        """The values of all keys that begin with one of the prefixes, prefix by prefix."""
        prefixes = self._keys.encode_prefixes(rows)

        async def ask() -> Spans:
            found: list[Sequence[bytes]] = [()] * len(prefixes)

            async def send(channel: Channel, part: Sequence[KeyGroup]) -> Mapping[KeyGroup, LakewardError]:
                return await self._look_up_prefixes(channel, part, prefixes, found)

            await self._calls.settle(await self._groups(rows, prefixes, bucketing), send)
            return Spans.of([value for values in found for value in values])

        return await _knowing_partitions(ask)

    async def _look_up_prefixes(
        self, channel: Channel, groups: Sequence[KeyGroup], prefixes: PackedBytes, found: list[Sequence[bytes]]
    ) -> dict[KeyGroup, LakewardError]:
        self._keys.check_version(channel, Api.PREFIX_LOOKUP)
        request = PrefixLookupRequest(
            table_id=self._info.table_id,
            buckets_req=tuple(
                PbPrefixLookupReqForBucket(
                    partition_id=g.bucket.partition_id,
                    bucket_id=g.bucket.bucket,
                    keys=tuple(prefixes[i] for i in g.which.tolist()),
                )
                for g in groups
            ),
        )
        timeout_ms = self._cluster.settings.request_timeout_ms
        answer: PrefixLookupResponse = await channel.request(Api.PREFIX_LOOKUP, request, timeout_ms=timeout_ms)
        told = {(b.partition_id, b.bucket_id): b for b in answer.buckets_resp}
        failed: dict[KeyGroup, LakewardError] = {}
        for group in groups:
            reply = told.get((group.bucket.partition_id, group.bucket.bucket))
            if reply is None:
                failed[group] = _no_answer(group)
            elif reply.error_code:
                failed[group] = ErrorCode.of_wire(reply.error_code).error(reply.error_message)
            elif len(reply.value_lists) != len(group.which):
                failed[group] = _miscount(len(group.which), len(reply.value_lists))
            else:
                for place, values in zip(group.which.tolist(), reply.value_lists, strict=True):
                    found[place] = values.values
        return failed


async def _knowing_partitions(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask; and again, where somebody has dropped a partition since it was learned which there are."""
    try:
        return await ask()
    except NotFoundError as wrong:
        if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS:
            raise
        return await ask()


def _packed_keys(group: KeyGroup, keys: PackedBytes) -> list[bytes | bytearray | memoryview]:
    """A PbLookupReqForBucket: partition and bucket, then the keys as compiled code writes them."""
    starts, ends = keys.bounds[group.which], keys.bounds[group.which + 1]
    packed = bytearray(fields_bytes(starts, ends))
    put_fields(KEY_TAG, keys.data, starts, ends, np.frombuffer(packed, np.uint8))
    head = encode(PbLookupReqForBucket(partition_id=group.bucket.partition_id, bucket_id=group.bucket.bucket))
    return [head, packed]


def _read_all(
    bodies: Sequence[bytes | bytearray | memoryview | list[bytes | bytearray | memoryview]],
    groups: Sequence[KeyGroup],
    answers: _Answers,
) -> dict[KeyGroup, LakewardError]:
    """Take the values out of an answer; tells what went wrong with some of the groups, silence included."""
    left = {(g.bucket.partition_id, g.bucket.bucket): g for g in groups}
    room = max(len(g.which) for g in groups)
    head = np.empty(HEAD_WORDS, np.int64)
    failed: dict[KeyGroup, LakewardError] = {}
    for body in bodies:
        assert isinstance(body, memoryview)
        data, starts, ends = read_only(body), np.empty(room, np.int64), np.empty(room, np.int64)
        count = cut_values(data, head, starts, ends)
        partition_id = None if head[PARTITION] == ABSENT else int(head[PARTITION])
        group = left.pop((partition_id, int(head[BUCKET])), None)
        if group is None:
            continue
        keys = len(group.which)
        if count == keys:
            answers.add(group, data, starts[:keys], ends[:keys])
        elif count == REFUSED:
            refusal = decode(PbLookupRespForBucket, body)
            failed[group] = ErrorCode.of_wire(refusal.error_code or -1).error(refusal.error_message)
        else:
            failed[group] = _miscount(keys, count)
    return failed | {group: _no_answer(group) for group in left.values()}


def _no_answer(group: KeyGroup) -> LakewardError:
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"No answer for {group.bucket}.")


def _miscount(keys: int, values: int) -> LakewardError:
    what = "a damaged answer" if values == DAMAGED else f"{values} values"
    return ErrorCode.UNKNOWN_SERVER_ERROR.error(f"The server gave {what} for {keys} keys.")
