"""BinlogDump: the events of the binlog from one place to another, as the server sends them to its replicas."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lakeward.capture.mysql.binlog import events
from lakeward.capture.mysql.binlog.event_kernels import find_boundary, read_heads
from lakeward.capture.mysql.cells.cells import I64, U8
from lakeward.capture.mysql.server import position as positions
from lakeward.capture.mysql.server.mysql_errors import binlog_gone
from lakeward.capture.mysql.server.mysql_session import MysqlSession
from lakeward.capture.mysql.server.packets import Block
from lakeward.capture.mysql.server.server_settings import ServerSettings
from lakeward.capture.port import Position
from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.entropy import Entropy

_DUMP, _DUMP_GTID = 0x12, 0x1E
_THROUGH_GTID = 4
_FIRST_BYTE = 4
_SUM_BYTES = 4
_SERVER_IDS = (1 << 30, 1 << 32)
_BEATS_MAX = 10
#: Blocks end at multiples of this in a file.
_SEGMENT_BYTES = 4 << 20
_SET_UP = (
    "SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum",
    "SET @master_heartbeat_period = 1000000000, @source_heartbeat_period = 1000000000",
)


@dataclass(frozen=True, slots=True)
class EventBlock:
    """Events that arrived together; `data` is overwritten by the next. Bytes of a body begin behind the head."""

    file: str
    data: U8
    kinds: list[int]
    seconds: list[int]
    next_places: list[int]
    starts: list[int]
    ends: list[int]

    def body(self, index: int) -> bytes:
        """An event without its head."""
        return self.data[self.starts[index] : self.ends[index]].tobytes()

    def server_id(self, index: int) -> int:
        """The server that wrote the event first."""
        at = self.starts[index] - events.HEAD_BYTES + 5
        return int.from_bytes(self.data[at : at + 4].tobytes(), "little")


class BinlogDump:
    """Reads what was committed after one place, up to and including another."""

    def __init__(self, settings: ServerSettings, entropy: Entropy) -> None:
        self._settings = settings
        self._entropy = entropy

    def read(self, start: Position, end: Position) -> Iterator[EventBlock]:
        """The events between two places, in blocks that end at the same events whenever they are read."""
        is_here = start["server"] == end["server"]
        if is_here and positions.place(start) >= positions.place(end):
            return
        if not is_here and not start["gtid"]:
            raise _other_server(self._settings.server)
        session = MysqlSession(self._settings)
        try:
            for statement in _SET_UP:
                session.query(statement)
            if session.is_mariadb:
                session.query("SET @mariadb_slave_capability = 4")
            has_sums = session.query("SELECT @@global.binlog_checksum")[0][0] == "CRC32"
            command, body = self._request(session, start, by_file=is_here)
            cutter = EventCutter(start if is_here else None, end, self._settings.server, has_sums=has_sums)
            for packets in session.command(command, body, cutter.enough):
                yield from cutter.events(packets)
                if cutter.is_done:
                    return
        finally:
            session.close()

    def try_out(self, start: Position) -> None:
        """Begin to read at a place: an error if this user may not."""
        for _ in self.read(start, {**start, "pos": start["pos"] + 1}):
            break

    def _request(self, session: MysqlSession, start: Position, *, by_file: bool) -> tuple[int, bytes]:
        ids = self._settings.server_ids or range(*_SERVER_IDS)
        server_id = ids[self._entropy.below(len(ids))]
        if by_file:
            return _DUMP, struct.pack("<IHI", start["pos"], 0, server_id) + str(start["file"]).encode()
        if session.is_mariadb:
            session.query(f"SET @slave_connect_state = '{start['gtid']}', @slave_gtid_strict_mode = 0")
            return _DUMP, struct.pack("<IHI", _FIRST_BYTE, 0, server_id)
        known = _encode_gtid_set(start["gtid"])
        head = struct.pack("<HII", _THROUGH_GTID, server_id, 0)
        return _DUMP_GTID, head + struct.pack("<QI", _FIRST_BYTE, len(known)) + known


class EventCutter:
    """Cuts what arrives into blocks of events, and their checksums off; knows when the goal is reached."""

    def __init__(self, start: Position | None, end: Position, server: str, *, has_sums: bool) -> None:
        self._server = server
        self._end = end
        self._has_sums = has_sums
        self._file = str(start["file"]) if start else ""
        #: The stretch of the file that was reached, and the goal's place if it is in this file.
        self._state = np.array([int(start["pos"]) // _SEGMENT_BYTES if start else 0, self._goal(), 0], np.int64)
        self.is_done = False

    def _goal(self) -> int:
        return int(self._end["pos"]) if self._file == self._end["file"] else -1

    def enough(self, data: U8, starts: I64, seen: int) -> int:
        """How many packets are a block. A server that has nothing more to tell ends the patience."""
        count = int(find_boundary(data, starts, seen, _SEGMENT_BYTES, self._state))
        if self._state[2] > _BEATS_MAX:
            raise binlog_gone(
                self._server,
                f"it ends before {self._end['file']}:{self._end['pos']}, as after a crash that cost it the tail",
            )
        return count

    def events(self, block: Block) -> Iterator[EventBlock]:
        """The events of a block; the goal is the end of its last one, or a later block's."""
        heads = np.empty((3, len(block.starts)), np.int64)
        read_heads(block.data, block.starts, heads)
        kinds, seconds, places = (row.tolist() for row in heads)
        ends = block.starts + block.lengths
        if events.FORMAT in kinds:
            # every file says itself whether its events end with checksums
            last = int(ends[kinds.index(events.FORMAT)])
            self._has_sums = bool(block.data[last - _SUM_BYTES - 1] == 1)
        own_ends = (ends - _SUM_BYTES if self._has_sums else ends).tolist()
        starts = (block.starts + 1 + events.HEAD_BYTES).tolist()
        goal = self._goal()
        if self._file:
            count = len(kinds) - (1 if 0 <= goal < places[-1] else 0)
            yield EventBlock(
                self._file, block.data, kinds[:count], seconds[:count], places[:count], starts[:count], own_ends[:count]
            )
        if goal >= 0 and max(places) >= goal:
            self.is_done = True
        elif kinds[-1] == events.ROTATE:
            self._file, place = events.read_rotate(block.data[starts[-1] : own_ends[-1]].tobytes())
            self._state[:2] = place // _SEGMENT_BYTES, self._goal()
            self.is_done = positions.file_number(self._file) > positions.file_number(self._end["file"])


def _encode_gtid_set(gtid: str) -> bytes:
    sets = positions.parse_gtid_set(gtid)
    out = struct.pack("<Q", len(sets))
    for source, spans in sets.items():
        out += bytes.fromhex(source.replace("-", "")) + struct.pack("<Q", len(spans))
        out += b"".join(struct.pack("<QQ", begin, end + 1) for begin, end in spans)
    return out


def _other_server(server: str) -> LakewardError:
    return ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error(
        f"The stream was reading another server than {server} and knows no GTID to find its place there. Point it back"
        " to the server that it came from, or start it anew with a fresh checkpoint."
    )
