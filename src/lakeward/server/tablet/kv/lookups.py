"""LOOKUP and PREFIX_LOOKUP: questions about the state of a primary key table."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.protocol.codec import Parts, encode
from lakeward.protocol.messages.kv import PbLookupRespForBucket, PbValueList, PrefixLookupRequest
from lakeward.protocol.messages.packed_kv import (
    PackedLookupRequest,
    PackedLookupResponse,
    PackedPrefixBucket,
    PackedPrefixLookupResponse,
)
from lakeward.rpc.dispatch import Exchange, Steps
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.server.tablet.buckets.busy import BusyBuckets
from lakeward.server.tablet.buckets.tablets import Tablets
from lakeward.server.tablet.buckets.too_large import answer_too_large, no_room, too_many_keys, too_many_rows
from lakeward.server.tablet.kv.kv_gate import KvGate
from lakeward.server.tablet.kv.packed_lookup import AskedKeys, packed_values
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.kv.store.slices import Slices

#: Values of more bytes are written into their answer beside the loop.
_LARGE_BYTES = 1 << 20
#: So many values of a prefix are encoded without a break.
_VALUES_AT_ONCE = 512


class LookupLimits(NamedTuple):
    """How much one request may ask for."""

    keys: int
    rows: int
    answer_bytes: int


class Lookups:
    """Answers lookups."""

    def __init__(
        self,
        tablets: Tablets,
        gate: KvGate,
        busy: BusyBuckets,
        waiters: Waiters,
        limits: LookupLimits,
        has_room: Callable[[int], bool],
        now_ms: Callable[[], int],
    ) -> None:
        """`has_room` tells whether there is memory for a large answer."""
        self._has_room = has_room
        self._tablets = tablets
        self._gate = gate
        self._busy = busy
        self._waiters = waiters
        self._limits = limits
        self._now_ms = now_ms

    def look_up(self, request: PackedLookupRequest, exchange: Exchange) -> PackedLookupResponse | None:
        """The rows of some keys, in the order of the keys."""
        asked = [AskedKeys.of(packed) for packed in request.buckets_req]
        self._check_count(sum(len(one.keys) for one in asked))
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in asked]
        if not self._gate.admits(buckets, self.look_up, request, exchange):
            return None
        bytes_left = self._limits.answer_bytes
        answers: list[_Answer] = []
        for one, bucket in zip(asked, buckets, strict=True):
            answers.append(self._values(request, one, bucket, exchange.version, bytes_left))
            bytes_left -= answers[-1].size
        size = self._limits.answer_bytes - bytes_left
        if size < _LARGE_BYTES:
            return _packed(answers)
        if not self._has_room(size):
            raise no_room()
        self._busy.answer_later(exchange, self._packed_beside(answers))
        return None

    def _check_count(self, count: int) -> None:
        if count > self._limits.keys:
            raise too_many_keys(count, self._limits.keys)

    async def _packed_beside(self, answers: list[_Answer]) -> PackedLookupResponse:
        return await self._busy.on_thread(lambda: _packed(answers))

    def _values(
        self, request: PackedLookupRequest, asked: AskedKeys, bucket: TableBucket, version: int, bytes_max: int
    ) -> _Answer:
        try:
            if asked.partition_name is not None:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"Partition '{asked.partition_name}' has gone; rows in the lake cannot be looked up yet."
                )
            kv = self._tablets.kv(bucket, version)
            if request.insert_if_not_exists:
                self._tablets.writes.check()
                kv.insert_missing(asked.keys, self._tablets.partition_values(bucket), self._now_ms())
                self._waiters.touch(bucket)
            return _Answer(asked, kv.get(asked.keys, bytes_max))
        except OverflowError:
            return _Answer(asked, answer_too_large(self._limits.answer_bytes))
        except LakewardError as wrong:
            return _Answer(asked, wrong)

    def prefix_look_up(self, request: PrefixLookupRequest, exchange: Exchange) -> Steps | None:
        """All rows whose keys begin with some prefixes."""
        self._check_count(sum(len(one.keys) for one in request.buckets_req))
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in request.buckets_req]
        if not self._gate.admits(buckets, self.prefix_look_up, request, exchange, before=KvTablet.ordering):
            return None
        return self._prefixes(request, exchange.version)

    def _prefixes(self, request: PrefixLookupRequest, version: int) -> Steps:
        rows_left, bytes_left = self._limits.rows, self._limits.answer_bytes
        answers = []
        for one in request.buckets_req:
            lists: list[Parts] = []
            try:
                for key in one.keys:
                    bucket = TableBucket(request.table_id, one.partition_id, one.bucket_id)
                    self._gate.check_free(bucket)
                    kv = self._tablets.kv(bucket, version)
                    values = kv.scan_prefix(key, rows_left, bytes_left).values
                    rows_left -= len(values)
                    bytes_left -= values.buffer.size
                    lists.append((yield from _value_list(values)))
            except OverflowError:
                too_many = too_many_rows(self._limits.rows, self._limits.answer_bytes)
                answers.append(bucket_refusal(PackedPrefixBucket, one, too_many))
            except LakewardError as wrong:
                answers.append(bucket_refusal(PackedPrefixBucket, one, wrong))
            else:
                answers.append(
                    PackedPrefixBucket(partition_id=one.partition_id, bucket_id=one.bucket_id, value_lists=tuple(lists))
                )
        return PackedPrefixLookupResponse(buckets_resp=tuple(answers))


def _value_list(values: Slices) -> Generator[None, None, Parts]:
    """An encoded PbValueList, in pieces: a prefix may match a hundred thousand rows."""
    pieces: Parts = []
    for at in range(0, len(values), _VALUES_AT_ONCE):
        end = at + _VALUES_AT_ONCE
        some = Slices(values.buffer, values.starts[at:end], values.ends[at:end])
        pieces.append(encode(PbValueList(values=tuple(some.present()))))
        yield
    return pieces


class _Answer(NamedTuple):
    """What was found for the keys of one bucket, or why nothing was."""

    asked: AskedKeys
    found: Slices | LakewardError

    @property
    def size(self) -> int:
        """Bytes of the values."""
        return 0 if isinstance(self.found, LakewardError) else self.found.buffer.size


def _packed(answers: list[_Answer]) -> PackedLookupResponse:
    return PackedLookupResponse(
        buckets_resp=tuple(
            encode(bucket_refusal(PbLookupRespForBucket, asked, found))
            if isinstance(found, LakewardError)
            else packed_values(asked, found)
            for asked, found in answers
        )
    )
