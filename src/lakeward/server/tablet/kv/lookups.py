"""LOOKUP and PREFIX_LOOKUP: questions about the state of a primary key table."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Sequence
from functools import partial
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
from lakeward.records.batch.kv_batch import KvBatch
from lakeward.rpc.dispatch import Exchange, Steps
from lakeward.rpc.error_answers import bucket_refusal
from lakeward.server.buckets.buckets import Buckets
from lakeward.server.chores.write_stop import WriteStop
from lakeward.server.tablet.kv.packed_lookup import AskedKeys, packed_values
from lakeward.server.tablet.kv.put_steps import PutSteps
from lakeward.server.tablet.log.waiting import Waiters
from lakeward.server.tablet.requests.flow import Flow, run_beside, run_here
from lakeward.server.tablet.requests.limit_errors import answer_too_large, no_room, too_many_keys, too_many_rows
from lakeward.server.tablet.requests.traffic import Traffic
from lakeward.server.tablet.state.busy import BusyBuckets
from lakeward.server.tablet.state.states import States
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.kv.store.slices import Slices

#: Values of more bytes are written into their answer beside the loop.
_LARGE_BYTES = 1 << 20
#: So many values of a prefix are encoded without a break.
_VALUES_AT_ONCE = 512
#: More keys are looked up, and more rows inserted for keys that have none, beside the loop.
_KEYS_MAX = 5000
_INSERTED_MAX = 128


class LookupLimits(NamedTuple):
    """How much one request may ask for."""

    keys: int
    rows: int
    answer_bytes: int


class AskedRows(NamedTuple):
    """Keys to be looked up, by bucket."""

    keys: list[AskedKeys]
    buckets: list[TableBucket]
    #: Whether a row is made for a key that has none.
    insert_missing: bool


class AskedPrefixes(NamedTuple):
    """Beginnings of keys, by bucket."""

    request: PrefixLookupRequest
    buckets: list[TableBucket]


class Lookups:
    """Answers lookups."""

    def __init__(
        self,
        buckets: Buckets,
        states: States,
        writes: WriteStop,
        busy: BusyBuckets,
        waiters: Waiters,
        limits: LookupLimits,
        has_room: Callable[[int], bool],
        now_ms: Callable[[], int],
        traffic: Traffic,
    ) -> None:
        """`has_room` tells whether there is memory for a large answer."""
        self._has_room = has_room
        self._traffic = traffic
        self._buckets = buckets
        self._states = states
        self._writes = writes
        self._busy = busy
        self._waiters = waiters
        self._limits = limits
        self._puts = PutSteps(states, now_ms)

    def read(self, request: PackedLookupRequest) -> AskedRows:
        """The keys of a request, by bucket."""
        keys = [AskedKeys.of(packed) for packed in request.buckets_req]
        self._check_count(sum(len(one.keys) for one in keys))
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in keys]
        return AskedRows(keys, buckets, insert_missing=bool(request.insert_if_not_exists))

    def look_up(self, asked: AskedRows, exchange: Exchange) -> PackedLookupResponse | Steps | None:
        """The rows of some keys, in the order of the keys."""
        count = sum(len(keys.keys) for keys in asked.keys)
        states = [
            self._open(keys, bucket, exchange.version) for keys, bucket in zip(asked.keys, asked.buckets, strict=True)
        ]
        if count > (_INSERTED_MAX if asked.insert_missing else _KEYS_MAX):
            finding = run_beside(self._find_all(asked, states), self._busy.on_thread)
            return self._after(self._busy.together(asked.buckets, finding), asked, exchange)
        return self._answer(asked, run_here(self._find_all(asked, states)), exchange)

    def _open(self, asked: AskedKeys, bucket: TableBucket, version: int) -> KvTablet | LakewardError:
        try:
            if asked.partition_name is not None:
                raise ErrorCode.PARTITION_SPEC_INVALID.error(
                    f"Partition '{asked.partition_name}' has gone; rows in the lake cannot be looked up yet."
                )
            return self._states.open(bucket, version)
        except LakewardError as wrong:
            return wrong

    def _after(self, finding: asyncio.Future[list[_Answer]], asked: AskedRows, exchange: Exchange) -> Steps:
        yield finding  # meanwhile the keys stay where they are
        return self._answer(asked, finding.result(), exchange)

    def _answer(self, asked: AskedRows, answers: list[_Answer], exchange: Exchange) -> PackedLookupResponse | None:
        for one, bucket in zip(answers, asked.buckets, strict=True):
            if isinstance(one.found, LakewardError):
                exchange.note_refusal(one.found)
            else:
                self._traffic[bucket.table_id].look_up(len(one.asked.keys), one.size)
        size = sum(one.size for one in answers)
        if size < _LARGE_BYTES:
            return _pack_answers(answers)
        if not self._has_room(size):
            raise no_room()
        self._busy.answer_later(exchange, self._packed_beside(answers))
        return None

    def _check_count(self, count: int) -> None:
        if count > self._limits.keys:
            raise too_many_keys(count, self._limits.keys)

    async def _packed_beside(self, answers: list[_Answer]) -> PackedLookupResponse:
        return await self._busy.on_thread(lambda: _pack_answers(answers))

    def _find_all(self, asked: AskedRows, states: Sequence[KvTablet | LakewardError]) -> Flow[list[_Answer]]:
        bytes_left = self._limits.answer_bytes
        answers: list[_Answer] = []
        for keys, bucket, state in zip(asked.keys, asked.buckets, states, strict=True):
            found = yield from self._find(keys, bucket, state, bytes_left, insert_missing=asked.insert_missing)
            answers.append(found)
            bytes_left -= found.size
        return answers

    def _find(
        self,
        asked: AskedKeys,
        bucket: TableBucket,
        state: KvTablet | LakewardError,
        bytes_max: int,
        *,
        insert_missing: bool,
    ) -> Flow[_Answer]:
        if isinstance(state, LakewardError):
            return _Answer(asked, state)
        try:
            if insert_missing:
                yield from self._insert(asked, bucket, state)
            return _Answer(asked, (yield partial(state.get, asked.keys, bytes_max)))
        except OverflowError:
            return _Answer(asked, answer_too_large(self._limits.answer_bytes))
        except LakewardError as wrong:
            return _Answer(asked, wrong)

    def _insert(self, asked: AskedKeys, bucket: TableBucket, state: KvTablet) -> Flow[None]:
        """Make a row for each key that has none."""
        self._writes.check()
        values = self._buckets.partition_values(bucket)
        batch: KvBatch | None = yield partial(state.batch_of_missing, asked.keys, values)
        if batch is not None:
            yield from self._puts.put(bucket, state, batch, state.key_columns)
        self._waiters.touch(bucket)

    def read_prefixes(self, request: PrefixLookupRequest) -> AskedPrefixes:
        """The prefixes of a request, by bucket."""
        self._check_count(sum(len(one.keys) for one in request.buckets_req))
        buckets = [TableBucket(request.table_id, one.partition_id, one.bucket_id) for one in request.buckets_req]
        return AskedPrefixes(request, buckets)

    def prefix_look_up(self, asked: AskedPrefixes, exchange: Exchange) -> Steps:
        """All rows whose keys begin with some prefixes."""
        rows_left, bytes_left = self._limits.rows, self._limits.answer_bytes
        answers = []
        for one, bucket in zip(asked.request.buckets_req, asked.buckets, strict=True):
            lists: list[Parts] = []
            try:
                for key in one.keys:
                    state = self._states.open(bucket, exchange.version)
                    values = state.scan_prefix(key, rows_left, bytes_left).values
                    rows_left -= len(values)
                    bytes_left -= values.buffer.size
                    lists.append((yield from _value_list(values)))
                    self._traffic[bucket.table_id].look_up(1, values.buffer.size)
            except OverflowError:
                too_many = too_many_rows(self._limits.rows, self._limits.answer_bytes)
                exchange.note_refusal(too_many)
                answers.append(bucket_refusal(PackedPrefixBucket, one, too_many))
            except LakewardError as wrong:
                exchange.note_refusal(wrong)
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


def _pack_answers(answers: list[_Answer]) -> PackedLookupResponse:
    return PackedLookupResponse(
        buckets_resp=tuple(
            encode(bucket_refusal(PbLookupRespForBucket, asked, found))
            if isinstance(found, LakewardError)
            else packed_values(asked, found)
            for asked, found in answers
        )
    )
