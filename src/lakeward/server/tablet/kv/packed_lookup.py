"""Lookups as bytes: the keys of a request and the values of an answer, cut and written by compiled loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lakeward.errors import ErrorCode
from lakeward.protocol.codec import encode
from lakeward.protocol.codec.declare import payload
from lakeward.protocol.messages.kv import PbLookupRespForBucket
from lakeward.records.kernels.spans import read_only
from lakeward.server.tablet.kv import lookup_kernels as kernels
from lakeward.storage.kv.store.slices import Slices

#: Cut at the first go; more of them are counted first.
_FEW_KEYS = 16
_HEADS_KEPT = 1024


@dataclass(frozen=True, slots=True)
class AskedKeys:
    """One bucket of a lookup."""

    partition_id: int | None
    bucket_id: int
    keys: Slices
    partition_name: str | None

    @classmethod
    def of(cls, packed: payload) -> AskedKeys:
        """Read an encoded PbLookupReqForBucket."""
        assert not isinstance(packed, list)
        data = read_only(packed)
        head = np.zeros(kernels.HEAD_FIELDS, np.int64)
        places = np.empty((2, _FEW_KEYS), np.int64)
        if not kernels.cut_keys(data, head, places[0], places[1]) or not head[kernels.HAS_BUCKET]:
            raise ErrorCode.CORRUPT_MESSAGE.error("The message could not be read: a bucket of the lookup is damaged.")
        count = int(head[kernels.KEY_COUNT])
        if count > _FEW_KEYS:
            places = np.empty((2, count), np.int64)
            kernels.cut_keys(data, head, places[0], places[1])
        name = bytes(data[head[kernels.NAME_START] : head[kernels.NAME_END]]) if head[kernels.NAME_END] else None
        return cls(
            partition_id=int(head[kernels.PARTITION_ID]) if head[kernels.HAS_PARTITION] else None,
            bucket_id=int(head[kernels.BUCKET_ID]),
            keys=Slices(data, places[0, :count], places[1, :count]),
            partition_name=None if name is None else name.decode(errors="replace"),
        )


def packed_values(asked: AskedKeys, found: Slices) -> bytearray:
    """An encoded PbLookupRespForBucket with a value, or none, for each key."""
    out = bytearray(_head(asked.partition_id, asked.bucket_id))
    at = len(out)
    out += bytes(int(kernels.values_bytes(found.starts, found.ends)))
    kernels.put_values(read_only(found.buffer), found.starts, found.ends, np.frombuffer(out, np.uint8), at)
    return out


@lru_cache(_HEADS_KEPT)
def _head(partition_id: int | None, bucket_id: int) -> bytes:
    """How an answer for a bucket begins."""
    return bytes(encode(PbLookupRespForBucket(partition_id=partition_id, bucket_id=bucket_id)))
