"""Recorded bytes of a MariaDB's binlog, read as changes."""

from __future__ import annotations

from typing import Any

import pytest
from mysql_matrix import MATRIX, ROWS, read
from mysql_recording import LONGEST, OPTIONS, Recording

from lakeward.capture.mysql.binlog.dump import EventCutter
from lakeward.capture.mysql.cells.charsets import Charsets
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.mysql.read.changes import ChangeReader
from lakeward.capture.mysql.schema.tables import find_tables
from lakeward.capture.mysql.server.packets import PacketReader
from lakeward.capture.port import SchemaChange, SourceTable, TableRows


def replay(known: list[SourceTable] | None, piece_bytes: int = 1 << 20) -> list[Any]:
    """Events of the recording, as (kind, row) and schema changes."""
    recording, settings = Recording(), MysqlSettings.of(OPTIONS)
    tables = find_tables(recording.query, settings) if known is None else known
    reader = ChangeReader(settings, recording.query, Charsets(recording.query), tables)
    cutter = EventCutter(recording.start, recording.end, "recorded", has_sums=True)
    out: list[Any] = []
    for packets in PacketReader(recording.source("binlog", piece_bytes), cutter.enough):
        for block in cutter.events(packets):
            for event in reader.read(block):
                if isinstance(event, TableRows):
                    assert event.kinds is not None
                    out += zip(event.kinds.to_pylist(), event.rows.to_pylist(), strict=True)
                else:
                    out.append(event)
        if cutter.is_done:
            break
    return out


@pytest.mark.parametrize("piece_bytes", [7, 1000, 1 << 20])
def test_every_type_is_read_however_the_bytes_arrive(piece_bytes: int) -> None:
    """Values are those that were written; the update of a key is a delete and an insert."""
    events = replay(None, piece_bytes)
    assert [kind for kind, _ in events] == [*[1] * ROWS, 4, 1, 2, 3]
    for row in range(ROWS):
        values = events[row][1]
        assert dict(zip(values, [row, *read(row, longest=LONGEST)], strict=True)) == values
    assert events[ROWS][1] == events[1][1]
    assert events[ROWS + 1][1] == {**events[1][1], "id": 101}
    assert events[ROWS + 3][1] == {**events[2][1], "c0": 5}


def test_a_table_that_is_not_known_is_told_first() -> None:
    """The server is asked, and agrees with the metadata."""
    first, *rest = replay([])
    assert isinstance(first, SchemaChange)
    assert first.after is not None
    assert first.after.schema.primary_key == ("id",)
    assert len(first.after.schema.columns) == 1 + len(MATRIX)
    assert rest == replay(None)
