"""Frames between the JVM and a bridge process: a type (u8), a length (u32, big-endian), and so many bytes.

J  JSON: a call, or its answer          E  the error in place of an answer
A  one Arrow IPC message                N  a number of rows (u32), where no columns are read
B  bytes that Java does not look into   Z  no more rows come           C  no more rows are wanted
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

import pyarrow as pa

JSON, ERROR, ARROW, COUNT, BYTES, END, CANCEL = b"J", b"E", b"A", b"N", b"B", b"Z", b"C"
_HEADER = struct.Struct(">cI")
_COUNT = struct.Struct(">I")
_SOCKET_BUFFER_BYTES = 1 << 20


class Closed(Exception):  # noqa: N818 - not a mistake: the JVM has gone, or is done
    """The other side has closed the socket."""


class Frames:
    """The frames of one connection, both ways."""

    def __init__(self, connection: socket.socket) -> None:
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            connection.setsockopt(socket.SOL_SOCKET, option, _SOCKET_BUFFER_BYTES)
        self._socket = connection

    def receive(self) -> tuple[bytes, pa.Buffer]:
        """The next frame; Closed when none comes any more."""
        header = bytearray(_HEADER.size)
        self._fill(memoryview(header))
        kind, length = _HEADER.unpack(header)
        payload = pa.allocate_buffer(length)
        if length:
            self._fill(memoryview(payload).cast("B"))
        return kind, payload

    def send(self, kind: bytes, payload: bytes | pa.Buffer = b"") -> None:
        """Send one frame."""
        try:
            self._socket.sendall(_HEADER.pack(kind, len(payload)))
            if len(payload):
                self._socket.sendall(payload)
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def send_json(self, kind: bytes, value: Any) -> None:
        """Send a value as JSON."""
        self.send(kind, json.dumps(value, separators=(",", ":")).encode())

    def send_count(self, rows: int) -> None:
        """Send a number of rows."""
        self.send(COUNT, _COUNT.pack(rows))

    def is_cancelled(self) -> bool:
        """Whether the other side has said something, which in the middle of an answer can only be: enough."""
        try:
            self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)  # select() knows no file above 1,023
        except BlockingIOError:
            return False
        except ConnectionResetError:
            raise Closed from None
        self.receive()
        return True

    def _fill(self, view: memoryview) -> None:
        filled = 0
        while filled < len(view):
            try:
                count = self._socket.recv_into(view[filled:])
            except ConnectionResetError:
                raise Closed from None
            if count == 0:
                raise Closed
            filled += count
