"""Primary key tables over the wire: puts, lookups and scans of state, as plain requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from span_bytes import bytes_of
from wire_client import WireCluster
from wire_tables import LATEST, WireTable

from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.protocol.api import Api
from lakeward.protocol.messages.kv import (
    LookupRequest,
    PbLookupReqForBucket,
    PbLookupRespForBucket,
    PbPutKvReqForBucket,
    PbPutKvRespForBucket,
    PbScanReqForBucket,
    PutKvRequest,
    ScanKvRequest,
    ScanKvResponse,
)
from lakeward.protocol.messages.table import GetTableStatsRequest, PbTableStatsReqForBucket
from lakeward.records.batch.changelog_batch import changelog_rows
from lakeward.records.batch.kv_batch import build_kv_batch
from lakeward.records.batch.log_batch import crc_is_right, walk_batches
from lakeward.records.batch.value_batch import parse_value_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_encoding import KeyEncoding, key_encoder
from lakeward.records.row import compacted_row

Row = tuple[Any, ...]
COLUMNS: tuple[tuple[str, DataType], ...] = (("id", t.BIGINT().not_null()), ("name", t.STRING()), ("n", t.INT()))
KINDS = ("+A", "+I", "-U", "+U", "-D")
_ROOTS = {"BIGINT": "BIGINT", "STRING": "STRING", "INTEGER": "INTEGER"}


@dataclass
class WireKv:
    """A table (id BIGINT, name STRING, n INT, primary key id), or one with other columns."""

    wire: WireTable
    columns: Sequence[tuple[str, DataType]] = field(default=COLUMNS)

    @classmethod
    def create(
        cls,
        cluster: WireCluster,
        database: str,
        name: str,
        columns: Sequence[tuple[str, DataType]] = COLUMNS,
        **parts: Any,
    ) -> WireKv:
        """Create it; the first column is the key."""
        described = [
            {"name": column, "data_type": _type_json(type_), "id": number}
            for number, (column, type_) in enumerate(columns)
        ]
        schema = {
            "version": 1,
            "columns": described,
            "primary_key": [columns[0][0]],
            "highest_field_id": len(columns) - 1,
        }
        parts = {"schema": schema, "bucket_key": [columns[0][0]]} | parts
        return cls(WireTable.create(cluster, database, name, **parts), columns)

    # -- rows and bytes

    def key(self, key: Any) -> bytes:
        """The bytes of a key."""
        return key_encoder(KeyEncoding.COMPACTED, (self.columns[0][1],))((key,))

    def batch(self, rows: Sequence[Row], *, schema_id: int = 1, writer_id: int = -1, sequence: int = -1) -> bytearray:
        """A kv batch; a row that is a key alone deletes."""
        codec = compacted_row.codec(tuple(type_ for _, type_ in self.columns))
        keys = Spans.of([self.key(row[0]) for row in rows])
        encoded = Spans.of([codec.encode(row) if len(row) > 1 else b"" for row in rows])
        return build_kv_batch(schema_id, keys, encoded, writer_id, sequence)

    def row(self, value: bytes | memoryview) -> Row:
        """A stored value as a row."""
        return compacted_row.codec(tuple(type_ for _, type_ in self.columns)).decode(bytes(value[2:]))

    # -- requests

    def put_request(
        self, batch: bytes | bytearray, *, bucket: int = 0, targets: tuple[int, ...] = (), **more: Any
    ) -> PutKvRequest:
        """A put of one batch."""
        one = PbPutKvReqForBucket(bucket_id=bucket, records=bytes(batch))
        numbers = {"acks": -1, "timeout_ms": 30_000, "table_id": self.wire.table_id} | more
        return PutKvRequest(target_columns=targets, buckets_req=(one,), **numbers)

    def put(self, batch: bytes | bytearray, **how: Any) -> PbPutKvRespForBucket:
        """Put and return the bucket's answer, which may be an error."""
        (answer,) = self.wire.cluster.tablet.call(Api.PUT_KV, self.put_request(batch, **how)).buckets_resp
        return answer

    def upsert(self, *rows: Row, **how: Any) -> int:
        """Put rows; returns the offset after the last change."""
        answer = self.put(self.batch(rows), **how)
        assert not answer.error_code, answer
        return answer.log_end_offset

    def look_up(self, *keys: Any, bucket: int = 0, **more: Any) -> PbLookupRespForBucket:
        """The bucket's answer to a lookup."""
        one = PbLookupReqForBucket(bucket_id=bucket, keys=tuple(self.key(key) for key in keys))
        request = LookupRequest(table_id=self.wire.table_id, buckets_req=(one,), **more)
        (answer,) = self.wire.cluster.tablet.call(Api.LOOKUP, request).buckets_resp
        return answer

    def get(self, *keys: Any, bucket: int = 0) -> list[Row | None]:
        """The rows of keys."""
        answer = self.look_up(*keys, bucket=bucket)
        assert not answer.error_code, answer
        return [self.row(found.values) if found.values else None for found in answer.values]

    def scan_kv(self, **fields: Any) -> ScanKvResponse:
        """A SCAN_KV with these fields."""
        return self.wire.cluster.tablet.call(Api.SCAN_KV, ScanKvRequest(**fields))

    def open_scan(self, *, bucket: int = 0, limit: int | None = None, batch_bytes: int = 1 << 20) -> ScanKvResponse:
        """Open a cursor over a bucket."""
        one = PbScanReqForBucket(table_id=self.wire.table_id, bucket_id=bucket, limit=limit)
        return self.scan_kv(bucket_scan_req=one, call_seq_id=0, batch_size_bytes=batch_bytes)

    def state(self, *, bucket: int = 0, batch_bytes: int = 1 << 20) -> dict[Any, Row]:
        """All rows of a bucket by key."""
        answer = self.open_scan(bucket=bucket, batch_bytes=batch_bytes)
        rows = self.rows_of(answer)
        call = 0
        while answer.has_more_results:
            call += 1
            answer = self.scan_kv(scanner_id=answer.scanner_id, call_seq_id=call, batch_size_bytes=batch_bytes)
            rows += self.rows_of(answer)
        return {row[0]: row for row in rows}

    def rows_of(self, answer: ScanKvResponse) -> list[Row]:
        """The rows of an answer to SCAN_KV."""
        assert not answer.error_code, answer
        return [self.row(value) for value in bytes_of(parse_value_batch(answer.records))] if answer.records else []

    def row_count(self, *, bucket: int = 0) -> int:
        """What GET_TABLE_STATS says."""
        request = GetTableStatsRequest(
            table_id=self.wire.table_id, buckets_req=(PbTableStatsReqForBucket(bucket_id=bucket),)
        )
        (answer,) = self.wire.cluster.tablet.call(Api.GET_TABLE_STATS, request).buckets_resp
        assert not answer.error_code, answer
        return answer.row_count

    def changelog(self, *, bucket: int = 0, start: int = 0) -> Iterator[tuple[int, str, Row]]:
        """Offset, kind and row of every change, from an offset to the end."""
        types = [type_ for _, type_ in self.columns]
        codec = compacted_row.codec(tuple(types))
        end = self.wire.offset(LATEST, bucket=bucket)
        while start < end:
            records = self.wire.fetch(start, bucket=bucket).records
            for span in walk_batches(records):
                assert crc_is_right(records, span)
                read = changelog_rows(records[span.start : span.end], types, [0])
                buffer, starts, ends = read.rows.in_one_buffer()
                for i, kind in enumerate(read.change_types):
                    row = codec.decode(bytes(buffer[starts[i] : ends[i]]))
                    yield span.header.base_offset + i, KINDS[kind], row
                start = span.header.last_offset + 1


def play(changes: Iterator[tuple[int, str, Row]], state: dict[Any, Row]) -> int:
    """Apply a changelog to a dict, checking the old rows it names; returns how many changes there were."""
    count = 0
    for offset, kind, row in changes:
        count += 1
        match kind:
            case "+I":
                assert row[0] not in state, f"offset {offset} inserts a row that is there"
                state[row[0]] = row
            case "-U":
                assert state[row[0]] == row, f"offset {offset} has the wrong old row"
            case "+U":
                state[row[0]] = row
            case _:
                assert state.pop(row[0]) == row, f"offset {offset} deletes another row"
    return count


def _type_json(type_: DataType) -> dict[str, Any]:
    return {"type": _ROOTS[type_.root.value], "nullable": type_.nullable}
