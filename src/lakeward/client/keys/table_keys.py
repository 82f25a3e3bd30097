"""TableKeys: how the keys of one table become bytes, and which bucket they belong to. Whole columns at a time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.client.cluster.direct_channel import DirectChannel
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.key_forms import KeyForms
from lakeward.client.keys.packed_bytes import PackedBytes
from lakeward.errors import ErrorCode
from lakeward.model.data_types import NESTED
from lakeward.model.schema import Column
from lakeward.model.table import TableInfo
from lakeward.options.table import KV_FORMAT_VERSION, LAKE_FORMAT
from lakeward.protocol.api import Api
from lakeward.records.arrow.arrow_rows import values_of
from lakeward.records.arrow.bucket_kernels import assign_buckets, buckets_of_keys, encode_keys
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.key.key_encoding import KeyEncoding, bucket_key_encoding, key_encoder, primary_key_encoding
from lakeward.rpc.channel import Channel

#: From this version on, requests say that keys may be encoded by version 2 of the key format.
_VERSION_OF_OWN_BUCKET_KEYS = 1


class TableKeys:
    """The keys of one table."""

    def __init__(self, info: TableInfo) -> None:
        descriptor, schema = info.descriptor, info.schema
        lake_format = LAKE_FORMAT.read(descriptor.properties)
        version = KV_FORMAT_VERSION.read(descriptor.properties)
        has_default_bucket_key = descriptor.bucket_keys == descriptor.physical_primary_key
        self.path = info.path
        self.bucket_count = info.bucket_count
        self.primary = [schema.column(name) for name in schema.primary_key]
        self.partition = [schema.column(name) for name in descriptor.partition_keys]
        self._physical = [schema.column(name) for name in descriptor.physical_primary_key]
        self._bucket = [schema.column(name) for name in descriptor.bucket_keys]
        self._lake_format = lake_format
        self.forms = KeyForms(self.primary, info.path)
        self._encoding = primary_key_encoding(lake_format, version, has_default_bucket_key=has_default_bucket_key)
        self._bucket_encoding = bucket_key_encoding(lake_format)
        self._keys_are_bucket_keys = has_default_bucket_key and self._encoding is self._bucket_encoding
        self._encode_one = key_encoder(self._encoding, tuple(c.type for c in self._physical))  # refuses unfit types
        self._encode_bucket_key = key_encoder(self._bucket_encoding, tuple(c.type for c in self._bucket))
        self._bucket_places = [schema.primary_key.index(c.name) for c in self._bucket]
        is_new = bool(lake_format) and version is not None and version >= 2
        self._api_version_min = _VERSION_OF_OWN_BUCKET_KEYS if is_new and not has_default_bucket_key else 0

    def check_version(self, channel: Channel | DirectChannel, api: Api) -> None:
        """Refuse to send keys that an old server would look for under other bytes."""
        if channel.version(api) < self._api_version_min:
            raise ErrorCode.UNSUPPORTED_VERSION.error(
                f"{self.path} has a bucket key of its own and a lake format: its keys are encoded as only servers with "
                f"{api.name} version {self._api_version_min} know, and {channel.address} is older."
            )

    # -- keys ---------------------------------------------------------------------------------------------------------

    def encode(self, rows: pa.RecordBatch) -> PackedBytes:
        """The stored key of each row, within its partition."""
        return _encode(rows, self._physical, self._encoding)

    def buckets(self, rows: pa.RecordBatch, keys: PackedBytes, bucketing: Bucketing) -> NDArray[np.int32]:
        """The bucket of each row, whose keys are encoded already."""
        follow_pyfluss = bucketing is Bucketing.PYFLUSS
        if self._keys_are_bucket_keys:
            return buckets_of_keys(
                keys.data, keys.bounds, self._encoding, self.bucket_count, follow_pyfluss=follow_pyfluss
            )
        columns = [rows.column(c.name) for c in self._bucket]
        types = [c.type for c in self._bucket]
        return assign_buckets(columns, types, self.bucket_count, self._lake_format, follow_pyfluss=follow_pyfluss)

    def encode_one(self, row: Sequence[Any], bucketing: Bucketing) -> tuple[bytes, int]:
        """Key and bucket of one row of values (see `model.values`); not for partitioned tables."""
        key = bucket_key = self._encode_one(row)
        if not self._keys_are_bucket_keys:
            bucket_key = self._encode_bucket_key([row[i] for i in self._bucket_places])
        if self.bucket_count == 1:
            return key, 0
        follow_pyfluss = bucketing is Bucketing.PYFLUSS
        return key, bucket_of(bucket_key, self.bucket_count, self._lake_format, follow_pyfluss=follow_pyfluss)

    # -- prefixes of keys ---------------------------------------------------------------------------------------------

    @cached_property
    def prefix_forms(self) -> KeyForms:
        """Prefixes as people hold them: what names the partition, then the bucket key."""
        return KeyForms([*self.partition, *self._bucket], self.path, "prefix")

    def check_prefix(self) -> None:
        """Refuse prefix lookups where the bucket key does not begin the key."""
        bucket, physical = [c.name for c in self._bucket], [c.name for c in self._physical]
        if len(bucket) == len(physical) or physical[: len(bucket)] != bucket:
            raise ErrorCode.INVALID_TABLE.error(
                f"{self.path} has no prefixes to look up: its bucket key ({', '.join(bucket)}) must be the first, and "
                f"not all, columns of its primary key ({', '.join(physical)}). Such a table is created with "
                f"primary_key=['a', 'b'], bucket_by=['a']."
            )

    def encode_prefixes(self, rows: pa.RecordBatch) -> PackedBytes:
        """What the stored keys of each prefix begin with."""
        return _encode(rows, self._bucket, self._encoding)


def _encode(rows: pa.RecordBatch, columns: Sequence[Column], encoding: KeyEncoding) -> PackedBytes:
    arrays = [rows.column(c.name) for c in columns]
    types = [c.type for c in columns]
    if any(t.root in NESTED for t in types):
        encode = key_encoder(encoding, tuple(types))
        values = zip(*(values_of(a, t) for a, t in zip(arrays, types, strict=True)), strict=True)
        pieces = [encode(v) for v in values]
        bounds = np.zeros(len(pieces) + 1, np.int64)
        np.cumsum([len(p) for p in pieces], out=bounds[1:])
        return PackedBytes(np.frombuffer(b"".join(pieces), np.uint8).copy(), bounds)
    return PackedBytes(*encode_keys(arrays, types, encoding))
