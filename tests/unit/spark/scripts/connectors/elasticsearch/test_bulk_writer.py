"""Rows as documents, by a server that fails in all the ways that servers do."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
from search_server import SearchServer, search_server

from lakeward.errors import LakewardError
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_type
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.spark.scripts.connectors.elasticsearch.bulk_actions import BulkActions
from lakeward.spark.scripts.connectors.elasticsearch.bulk_writer import BulkWriter, Refusal
from lakeward.spark.scripts.connectors.elasticsearch.elasticsearch_options import BulkSettings
from lakeward.spark.scripts.connectors.elasticsearch.index_names import IndexNames

TYPES = {"id": "INT NOT NULL", "day": "DATE", "name": "STRING", "at": "TIMESTAMP(3)", "price": "DECIMAL(10, 2)"}


@pytest.fixture
def server() -> Iterator[SearchServer]:
    """A server of its own for each test."""
    with search_server() as made:
        yield made


def write(
    server: SearchServer,
    rows: list[tuple[Any, ...]],
    *,
    index: str = "orders",
    key: tuple[str, ...] = ("id",),
    **options: str,
) -> list[Refusal]:
    """Write rows (change, id, day, name, at, price)."""
    schema = Schema.of([(name, parse_type(text)) for name, text in TYPES.items()], primary_key=key)
    fields = [(column.name, column.type) for column in schema.columns]
    actions = BulkActions(schema, IndexNames(index, fields, "Table t"), "_")
    arrow = pa.schema([pa.field("_change_type", pa.string()), *arrow_schema(schema)])
    columns = zip(*rows, strict=True)
    batch = pa.RecordBatch.from_arrays([pa.array(c, f.type) for c, f in zip(columns, arrow, strict=True)], schema=arrow)
    keys = {f"sink.bulk-flush.{name.replace('_', '-')}": value for name, value in options.items() if name != "login"}
    keys |= {"hosts": server.url, "sink.bulk-flush.backoff.delay": "1 ms"}
    if "login" in options:
        keys |= {"username": "me", "password": options["login"]}
    writer = BulkWriter(BulkSettings.of(keys, "Table t"))
    try:
        return writer.write(actions.of(batch))
    finally:
        writer.close()


def row(id_: int, change: str = "insert", name: str | None = "a", day: dt.date | None = dt.date(2026, 11, 1)) -> Any:
    """A row with the rest filled in."""
    return change, id_, day, name, dt.datetime(2026, 11, 1, 10, 0, 0, 500_000), None


def test_rows_are_documents_under_their_key() -> None:
    """Changes by key; what was before an update is no action, a delete of what is not there is none either."""
    with search_server() as server:
        refused = write(
            server,
            [
                row(1),
                row(2, name='b "q"\n'),
                row(2, "update_before"),
                row(2, "update_after", "c"),
                row(3),
                row(9, "delete"),
            ],
        )
        assert refused == []
        assert server.documents("orders") == {
            "1": {"id": 1, "day": "2026-11-01", "name": "a", "at": "2026-11-01T10:00:00.500", "price": None},
            "2": {"id": 2, "day": "2026-11-01", "name": "c", "at": "2026-11-01T10:00:00.500", "price": None},
            "3": {"id": 3, "day": "2026-11-01", "name": "a", "at": "2026-11-01T10:00:00.500", "price": None},
        }
        write(server, [row(3, "delete"), row(1)])
        assert set(server.documents("orders")) == {"1", "2"}


def test_an_index_is_named_by_the_row(server: SearchServer) -> None:
    """A key of several columns is joined; a row whose index is not known is refused."""
    rows = [row(1), row(2, name="b", day=dt.date(2026, 12, 31)), row(3, name=None)]
    refused = write(server, rows, index="o-{name}-{day|yyyy.MM}", key=("id", "day"))
    assert {name: set(kept) for name, kept in server.indexes.items()} == {
        "o-a-2026.11": {"1_2026-11-01"},
        "o-b-2026.12": {"2_2026-12-31"},
    }
    assert [(one.action.id, one.reason) for one in refused] == [
        ("3_2026-11-01", "a column in the name of its index is NULL")
    ]


def test_requests_are_cut_to_size(server: SearchServer) -> None:
    """By number, by bytes, and by what the server takes; one that is too long for it by itself is refused."""
    write(server, [row(i) for i in range(7)], max_actions="3")
    assert [count for count, _ in server.requests] == [3, 3, 1]
    server.requests.clear()
    write(server, [row(i) for i in range(7)], max_size="300b")
    assert all(size <= 300 for _, size in server.requests)
    server.requests.clear()
    server.bytes_max = 400
    refused = write(server, [row(1), row(2), row(3), row(4, name="x" * 500), row(5)])
    assert [one.action.id for one in refused] == ["4"]
    assert "takes no request of" in refused[0].reason
    assert "5" in server.documents("orders")


def test_what_is_busy_or_away_is_asked_again(server: SearchServer) -> None:
    """Whole requests, single documents, connections that break before or after the documents were taken."""
    server.failures = [429, "drop", 503]
    server.lost_answers = 1
    assert write(server, [row(1), row(2)]) == []
    busy = {"2": [429, 503]}
    server.refuse = lambda _, id_, __: busy[id_].pop(0) if busy.get(id_ or "") else None
    assert write(server, [row(1, name="b"), row(2, name="b"), row(3)]) == []
    assert {id_: found["name"] for id_, found in server.documents("orders").items()} == {"1": "b", "2": "b", "3": "a"}


def test_the_last_change_of_a_document_wins_also_after_a_retry(server: SearchServer) -> None:
    """Of two changes in one request only the last is sent: else the first, sent again, would come after it."""
    server.refuse = lambda _, __, document: 429 if document and document["name"] == "old" else None
    assert write(server, [row(1, name="old"), row(1, "update_after", "new")]) == []
    assert server.documents("orders")["1"]["name"] == "new"


def test_what_is_refused_is_handed_back(server: SearchServer) -> None:
    """With the reason and the document; its neighbours are taken."""
    server.refuse = lambda _, id_, __: 400 if id_ == "2" else None
    (refused,) = write(server, [row(1), row(2), row(3)])
    assert refused.reason == "HTTP 400, document_parsing_exception: failed to parse, caused by x: as told"
    assert refused.action.document is not None
    assert '"id":2' in refused.action.document
    assert set(server.documents("orders")) == {"1", "3"}


def test_a_server_that_stays_away_is_an_error(server: SearchServer) -> None:
    """Busy for too long, a password that is wrong, an address where nobody is: each says what it is, no secret."""
    server.failures = [503] * 20
    with pytest.raises(LakewardError, match="did not take a bulk request \\(HTTP 503\\)"):
        write(server, [row(1)])
    server.failures = []
    server.authorization = "Basic bWU6Z2VoZWlt"
    assert write(server, [row(1)], login="geheim") == []
    with pytest.raises(LakewardError, match="check 'username' and 'password'") as refused:
        write(server, [row(1)], login="falsch")
    assert "falsch" not in str(refused.value)
    server.url = "http://127.0.0.1:1"
    with pytest.raises(LakewardError, match=r"http://127\.0\.0\.1:1 cannot be reached"):
        write(server, [row(1)], **{"backoff.max_retries": "1"})


def test_without_a_key_the_server_makes_the_ids(server: SearchServer) -> None:
    """So a document that is sent twice is there twice."""
    server.lost_answers = 1
    write(server, [row(1)], key=())
    assert len(server.documents("orders")) == 2


def test_settings_are_checked_and_keep_their_secrets() -> None:
    """Hosts are addresses; what is printed of settings holds no password."""
    settings = BulkSettings.of({"hosts": "http://a:1;https://b:2", "username": "me", "password": "geheim"}, "Table t")
    assert settings.hosts == ("http://a:1", "https://b:2")
    assert "geheim" not in repr(settings)
    assert "bWU6" not in repr(settings)
    for hosts in ("", "localhost:9200", "http://me:geheim@a:1"):
        with pytest.raises(LakewardError, match="'hosts'") as refused:
            BulkSettings.of({"hosts": hosts}, "Table t")
        assert "geheim" not in str(refused.value)


def test_names_of_indexes_are_checked() -> None:
    """Columns that are not there, letters that mean nothing, braces that do not close."""
    fields = [(name, parse_type(text)) for name, text in TYPES.items()]
    for pattern, why in {
        "o-{nix}": "is no column",
        "o-{id|yyyy}": "must be a date or a time",
        "o-{day|qq}": "'qq' in 'qq' is not known",
        "o-{day": "is not a name of an index",
    }.items():
        with pytest.raises(LakewardError, match=why):
            IndexNames(pattern, fields, "Table t")
