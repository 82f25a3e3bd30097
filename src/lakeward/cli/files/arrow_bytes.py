"""Bytes for Arrow's readers, in memory of its own.

Its threads may let go of what they read when a reader has long returned. For an object of Python's they would need the
interpreter; in a command that is just ending they die of that, and the command with them ("terminate called without an
active exception").
"""

from __future__ import annotations

import pyarrow as pa


def reader_of(data: bytes) -> pa.BufferReader:
    """A copy to read from, which takes next to nothing beside parsing it."""
    sink = pa.BufferOutputStream()
    sink.write(data)
    return pa.BufferReader(sink.getvalue())
