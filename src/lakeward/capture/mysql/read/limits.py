"""Where a part of the binlog ends that holds about so many changes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lakeward.capture.mysql.binlog import events
from lakeward.capture.mysql.binlog.dump import BinlogDump, EventBlock
from lakeward.capture.mysql.binlog.event_kernels import count_rows
from lakeward.capture.mysql.binlog.table_map import TableMap, read_length, read_table_map, table_name
from lakeward.capture.mysql.server import position as positions
from lakeward.capture.mysql.server.log_status import LogStatus
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.port import Position

#: No change takes fewer bytes than this in the binlog.
_CHANGE_BYTES = 8
_TABLE_ID_BYTES = 6


def limit_of(
    settings: ServerSettings, dump: BinlogDump, status: LogStatus, start: Position, end: Position, rows: int
) -> Position:
    """The first end of a transaction with so many changes of captured tables before it, or `end`."""
    is_one_file = start["server"] == end["server"] and start["file"] == end["file"]
    if is_one_file and end["pos"] - start["pos"] <= rows * _CHANGE_BYTES:
        return end
    counter = _Counter(settings, start["gtid"])
    for block in dump.read(start, end):
        place = counter.read(block, rows)
        if place is not None:
            return status.at(block.file, place, positions.write_gtid_set(counter.gtids))
    return end


class _Counter:
    """Counts changes, and knows where transactions end."""

    def __init__(self, settings: ServerSettings, gtid: str) -> None:
        self._settings = settings
        self._maps: dict[bytes, Any] = {}
        self._count = 0
        self.gtids = positions.parse_gtid_set(gtid)

    def read(self, block: EventBlock, rows: int) -> int | None:
        """Where the transaction ends that has the last of so many changes; None if that is not in this block."""
        for index, kind in enumerate(block.kinds):
            if kind == events.TABLE_MAP:
                self._see_table(block.body(index))
            elif kind in events.ROWS:
                self._count += self._changes(kind, block, index)
            elif kind == events.PAYLOAD:
                self._count += 1
            elif kind == events.GTID_MYSQL:
                source, number = events.read_gtid(block.body(index))
                positions.add_to_gtid_set(self.gtids, source, number)
            if self._count >= rows and self._is_end(kind, block, index):
                return block.next_places[index]
        return None

    @staticmethod
    def _is_end(kind: int, block: EventBlock, index: int) -> bool:
        if not block.next_places[index]:
            return False
        if kind in {events.QUERY, events.QUERY_PACKED}:
            statement = events.read_statement(block.body(index), is_packed=kind == events.QUERY_PACKED).text
            return statement == "COMMIT"
        return kind in {events.XID, events.PAYLOAD}

    def _see_table(self, body: bytes) -> None:
        if body not in self._maps:
            self._maps[body] = read_table_map(body) if self._settings.is_captured(table_name(body)) else None
        self._maps[body[:_TABLE_ID_BYTES]] = self._maps[body]

    def _changes(self, kind: int, block: EventBlock, index: int) -> int:
        head = block.data[block.starts[index] : block.ends[index]]
        map_: TableMap | None = self._maps.get(head[:_TABLE_ID_BYTES].tobytes())
        if map_ is None:
            return 0
        if kind in events.PACKED:
            return 1
        at = 8
        if kind in events.WITH_EXTRA:
            at += int.from_bytes(head[at : at + 2].tobytes(), "little")
        columns, at = read_length(head[: at + 16].tobytes(), at)
        images = 2 if events.ROWS[kind] == 2 else 1
        at += (columns + 7) // 8 * images
        sizes, prefixes = map_.program()
        return int(count_rows(np.ascontiguousarray(head), at, len(head), sizes, prefixes)) // images
