"""What the recording of the official client holds of primary key tables: schemas, upserts, changelogs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lakeward.model.json_form import parse_descriptor
from lakeward.model.schema import Schema
from lakeward.protocol.api import Api
from lakeward.protocol.codec import decode
from lakeward.records.batch.log_batch import walk_batches

_EXCHANGES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "client-1.0.jsonl").read_text().splitlines()
]


class Recorded(NamedTuple):
    """A batch of one bucket, with the schema of its table."""

    place: int
    table_id: int
    bucket_id: int
    schema: Schema
    batch: bytes

    @property
    def key_positions(self) -> list[int]:
        """Where the key columns stand."""
        return [self.schema.names.index(name) for name in self.schema.primary_key]


def _schemas() -> dict[int, Schema]:
    told = [e.get("response", {}) for e in _EXCHANGES if e["api"] == "GET_METADATA"]
    tables = [table for response in told for table in response.get("table_metadata", [])]
    return {t["table_id"]: parse_descriptor(bytes.fromhex(t["table_json"])).schema for t in tables}


_SCHEMAS = _schemas()


def upserts() -> Iterator[Recorded]:
    """Every kv batch that was sent."""
    for place, exchange in enumerate(_EXCHANGES):
        if exchange["api"] == "PUT_KV":
            request = decode(Api.PUT_KV.request, bytes.fromhex(exchange["request_hex"]))
            for bucket in request.buckets_req:
                schema = _SCHEMAS[request.table_id]
                yield Recorded(place, request.table_id, bucket.bucket_id, schema, bytes(bucket.records))


def changelogs() -> Iterator[Recorded]:
    """Every changelog batch that was fetched."""
    for place, exchange in enumerate(_EXCHANGES):
        if exchange["api"] != "FETCH_LOG" or "response_hex" not in exchange:
            continue
        response = decode(Api.FETCH_LOG.response, bytes.fromhex(exchange["response_hex"]))
        for table in response.tables_resp:
            for bucket in table.buckets_resp:
                data = bytes(bucket.records or b"")
                for span in walk_batches(data):
                    if not span.header.append_only:
                        schema = _SCHEMAS[table.table_id]
                        yield Recorded(place, table.table_id, bucket.bucket_id, schema, data[span.start : span.end])
