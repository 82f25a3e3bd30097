"""Messages of which the like were checked before: small batches of one writer say the same of their columns each time.

Only of those that are not compressed: of a compressed buffer the body says how long it is.
"""

from __future__ import annotations

import struct

from lakeward.records.ipc.arrow_message import NO_CODEC, Buffer, read_message
from lakeward.records.ipc.arrow_structure import CheckedMessage, Node, check_structure

_PREFIX = struct.Struct("<Ii")
#: Longer ones are of many columns, or of large batches, which a check does not hold up.
_METADATA_BYTES_MAX = 4096
_KNOWN_MAX = 256


class KnownMessages:
    """Checks messages of the same columns; safe to share between threads."""

    def __init__(self, nodes: tuple[Node, ...], padded: tuple[Node, ...] | None = None) -> None:
        """`padded` is what messages with more nodes must have."""
        self._nodes = nodes
        self._padded = padded
        self._known: dict[bytes, CheckedMessage] = {}

    def check(self, data: Buffer, rows: int) -> CheckedMessage:
        """The message that all of this is, against its columns and rows; CORRUPT_RECORD says what does not hold."""
        metadata = _metadata(data)
        known = self._known.get(metadata)
        if known is not None and known.message.rows == rows and _end(known) <= len(data):
            return known
        message = read_message(data, 0, len(data))
        is_padded = self._padded is not None and message.node_count != len(self._nodes)
        checked = check_structure(data, message, (self._padded if is_padded else None) or self._nodes, rows)
        if metadata and message.codec == NO_CODEC:
            if len(self._known) >= _KNOWN_MAX:
                self._known.clear()
            self._known[metadata] = checked
        return checked


def _end(checked: CheckedMessage) -> int:
    return checked.message.body_at + checked.message.body_bytes


def _metadata(data: Buffer) -> bytes:
    """What stands before the body; nothing where it is long, or cannot be told."""
    if len(data) < _PREFIX.size:
        return b""
    _, size = _PREFIX.unpack_from(data)
    return bytes(data[: _PREFIX.size + size]) if 0 < size <= _METADATA_BYTES_MAX else b""
