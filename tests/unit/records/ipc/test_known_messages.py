"""Messages that say the same of their columns as one before are checked once, and never taken for it wrongly."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_batches import arrow_message
from fake_cluster import table_info

from lakeward.errors import CorruptError
from lakeward.records.ipc.arrow_structure import nodes_of
from lakeward.records.ipc.known_messages import KnownMessages

NODES = nodes_of(table_info("id BIGINT, name STRING").schema)


def message(number: int, name: str | None, codec: str | None = None) -> bytes:
    """One row."""
    return arrow_message(pa.record_batch([pa.array([number]), pa.array([name], pa.string())], ["id", "name"]), codec)


def test_the_same_metadata_is_the_same_check() -> None:
    """Other numbers and texts of the same length differ in the body alone."""
    known = KnownMessages(NODES)
    first = known.check(message(1, "one"), 1)
    assert known.check(message(2, "two"), 1) is first
    assert known.check(message(3, "three"), 1).sizes != first.sizes
    assert known.check(message(4, None), 1).nodes[3] == 1


def test_a_body_that_is_cut_off_is_refused_also_if_its_metadata_is_known() -> None:
    """Its buffers would be read beyond their end."""
    known = KnownMessages(NODES)
    whole = message(1, "one")
    known.check(whole, 1)
    with pytest.raises(CorruptError, match="cut off"):
        known.check(whole[:-8], 1)
    with pytest.raises(CorruptError, match="1 rows, its header says 2"):
        known.check(whole, 2)


@pytest.mark.parametrize("data", [b"", b"\xff\xff\xff", b"\xff\xff\xff\xff\x08\0\0\0", b"\0" * 64])
def test_what_is_no_message_is_refused(data: bytes) -> None:
    """As often as it comes."""
    known = KnownMessages(NODES)
    for _ in range(2):
        with pytest.raises(CorruptError):
            known.check(data, 1)


def test_how_long_compressed_buffers_are_is_looked_at_each_time() -> None:
    """The body says so, not the metadata."""
    known = KnownMessages(NODES)
    data = bytearray(message(1, "one" * 100, "zstd"))
    checked = known.check(bytes(data), 1)
    at = checked.message.body_at + checked.message.buffers[2]
    data[at : at + 8] = (1 << 40).to_bytes(8, "little")
    with pytest.raises(CorruptError):
        known.check(bytes(data), 1)


def test_messages_with_columns_to_come_are_held_to_those() -> None:
    """A server that pads older batches sends more nodes than they had."""
    known = KnownMessages(NODES[:1], NODES)
    assert len(known.check(message(1, "one"), 1).nodes) == 4
    assert len(known.check(arrow_message(pa.record_batch([pa.array([1])], ["id"])), 1).nodes) == 2
