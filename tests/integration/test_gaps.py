"""Offsets that are not in the log: no reader passes them silently."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from poison import COLUMNS, good_rows
from server_process import ServerProcess

import lakeward
from lakeward.client.read.log_fetcher import LogFetcher
from lakeward.protocol.messages.log import PbFetchLogRespForBucket
from lakeward.query.read.data_loss import DataLossError
from lakeward.query.read.read import read_splits
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.stream import TableStream
from lakeward.records.batch.log_batch import walk_batches


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[lakeward.Connection]:
    """A table of nine rows in batches of three, the middle of which nobody gets."""
    with ServerProcess(tmp_path / "data") as server, lakeward.connect(server.bootstrap) as opened:
        opened.create_database("gap")
        table = opened.create_table("gap.t", COLUMNS, buckets=1)
        for first in (0, 3, 6):
            table.append(good_rows(first))
        yield opened


@pytest.fixture(autouse=True)
def without_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers of the server lose offsets 3 to 5, as after `lakeward repair`."""
    received = LogFetcher._take_reply

    def losing(self: LogFetcher, cursor: object, reply: PbFetchLogRespForBucket) -> None:
        if reply.records:
            data = reply.records
            kept = [data[s.start : s.end] for s in walk_batches(data) if s.header.base_offset != 3]
            reply = replace(reply, records=memoryview(b"".join(kept)))
        received(self, cursor, reply)  # type: ignore[arg-type]

    monkeypatch.setattr(LogFetcher, "_take_reply", losing)


def test_a_scan_goes_on_and_says_what_is_missing(conn: lakeward.Connection, caplog: pytest.LogCaptureFixture) -> None:
    """In its field and in the log, once, by name and range."""
    scan = conn.table("gap.t").scan(["id"])
    with caplog.at_level(logging.WARNING, "lakeward.client"):
        assert scan.to_arrow().column("id").to_pylist() == [0, 1, 2, 6, 7, 8]
    assert [(one.start, one.stop, one.missing) for one in scan.left_out] == [(3, 6, True)]
    (line,) = [record.getMessage() for record in caplog.records]
    assert "gap.t, bucket 0, offsets 3 to 5" in line


def test_a_query_goes_on_and_warns(conn: lakeward.Connection, caplog: pytest.LogCaptureFixture) -> None:
    """Who gave the rows up has decided; the query has all others."""
    with caplog.at_level(logging.WARNING, "lakeward.client"):
        found = conn.table("gap.t").query("SELECT id FROM t ORDER BY id")
    assert found.column("id").to_pylist() == [0, 1, 2, 6, 7, 8]
    assert "offsets 3 to 5" in caplog.text


@pytest.mark.parametrize("minds", [True, False])
def test_a_stream_does_as_fail_on_data_loss_says(conn: lakeward.Connection, minds: bool) -> None:
    """By default it ends with an error that names the range; switched off, it goes on with what is there."""
    options = {"scan.startup.mode": "earliest", "failOnDataLoss": str(minds).lower()}
    request = ReadRequest.of_name("gap.t", columns=("id",), options=options)
    stream = TableStream(conn, request)
    begin = stream.initial()
    splits = stream.plan(begin, stream.latest(begin)).splits
    if minds:
        with pytest.raises(DataLossError, match=r"gap\.t, bucket 0, offsets 3 to 5, are not in the log"):
            list(read_splits(conn, request, splits))
    else:
        rows = [i for batch in read_splits(conn, request, splits) for i in batch.column("id").to_pylist()]
        assert rows == [0, 1, 2, 6, 7, 8]
