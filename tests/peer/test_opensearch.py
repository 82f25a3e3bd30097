"""Documents in a real OpenSearch or Elasticsearch, whose address is in LAKEWARD_PEER_SEARCH.

By hand: the zip `org.opensearch.distribution.integ-test-zip:opensearch` of Maven, unpacked, `discovery.type:
single-node`, started as an ordinary user; then `LAKEWARD_PEER_SEARCH=http://127.0.0.1:9200 pytest tests/peer`.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import urllib.request
from typing import Any

import pyarrow as pa

from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.scripts.connectors.elasticsearch.bulk_actions import BulkActions
from lakeward.spark.scripts.connectors.elasticsearch.bulk_writer import BulkWriter, Refusal
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_options import BulkSettings
from lakeward.spark.scripts.connectors.elasticsearch.index_names import IndexNames

URL = os.environ.get("LAKEWARD_PEER_SEARCH", "")
SCHEMA = Schema.of(
    [("id", parse_type("BIGINT")), ("at", parse_type("TIMESTAMP(3)")), ("n", parse_type("STRING"))], primary_key=["id"]
)


def ask(method: str, path: str, body: Any = None) -> Any:
    """What the server answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}{path}", data, {"Content-Type": "application/json"}, method=method)
    return json.load(urllib.request.urlopen(request))


def write(index: str, rows: list[tuple[str, int, str]]) -> list[Refusal]:
    """Write rows (change, id, n)."""
    moment = dt.datetime(2026, 11, 1, 10, 0, 0, 500_000)
    batch = pa.RecordBatch.from_pylist(
        [{"id": i, "at": moment, "n": n} for _, i, n in rows], schema=arrow_schema(SCHEMA)
    )
    batch = batch.append_column("_change_type", pa.array([change for change, _, _ in rows]))
    names = IndexNames(index, [(column.name, column.type) for column in SCHEMA.columns], "Table t")
    writer = BulkWriter(BulkSettings.of({"hosts": URL}, "Table t"))
    try:
        return writer.write(BulkActions(SCHEMA, names, "_").of(batch))
    finally:
        writer.close()


def test_documents_follow_their_rows() -> None:
    """Changes by key, refusals by the mapping with the server's own words, names of indexes by the row."""
    ask("PUT", "/lakeward-strict", {"mappings": {"properties": {"n": {"type": "integer"}, "at": {"type": "date"}}}})
    try:
        rows = [("insert", 1, "1"), ("insert", 2, "oops"), ("insert", 3, "3"), ("insert", 4, "4")]
        (refused,) = write("lakeward-strict", rows)
        assert refused.action.id == "2"
        assert "oops" in refused.reason
        assert write("lakeward-strict", [("delete", 3, "3"), ("delete", 7, "7"), ("update_after", 1, "5")]) == []
        ask("POST", "/lakeward-strict/_refresh")
        hits = ask("GET", "/lakeward-strict/_search")["hits"]["hits"]
        at = "2026-11-01T10:00:00.500"
        assert {hit["_id"]: hit["_source"] for hit in hits} == {
            "1": {"id": 1, "at": at, "n": "5"},
            "4": {"id": 4, "at": at, "n": "4"},
        }
        assert write("lakeward-{at|yyyy-MM}", [("insert", 1, "1")]) == []
        assert ask("GET", "/lakeward-2026-11/_doc/1")["_source"] == {"id": 1, "at": at, "n": "1"}
    finally:
        ask("DELETE", "/lakeward-*")
