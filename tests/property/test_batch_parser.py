"""The batch parser: whatever bytes a client sends, they are batches or they are refused."""

from __future__ import annotations

import contextlib

from arrow_batches import ids_batch
from examples import EXAMPLES
from hypothesis import given, settings
from hypothesis import strategies as st
from raw_batches import raw_batch

from lakeward.errors import CorruptError
from lakeward.records.batch.batch_header import HEADER_BYTES
from lakeward.records.batch.log_batch import crc_is_right, cut_batches, seal, walk_batches

batches = st.builds(
    raw_batch,
    st.integers(0, 1000),
    st.binary(max_size=60),
    magic=st.integers(0, 2),
    writer_id=st.integers(-1, 2**63 - 1),
    sequence=st.integers(-1, 2**31 - 1),
    schema_id=st.integers(-(2**15), 2**15 - 1),
)


@given(st.lists(batches, min_size=1, max_size=6))
def test_good_batches_are_cut_where_they_end(payload: list[bytearray]) -> None:
    """Any batches one after the other are found, each with its own header."""
    data = b"".join(payload)
    spans = cut_batches(data)
    assert [bytes(data[s.start : s.end]) for s in spans] == [bytes(batch) for batch in payload]
    assert spans == list(walk_batches(data))


@settings(max_examples=5 * EXAMPLES)
@given(st.lists(batches, min_size=1, max_size=4), st.data())
def test_damage_is_refused_or_harmless(payload: list[bytearray], data: st.DataObject) -> None:
    """Flipped, cut and inserted bytes: what is accepted is whole, checked, and dense in its offsets."""
    damaged = bytearray(b"".join(payload))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(damaged)))
        match data.draw(st.integers(0, 2)):
            case 0 if place < len(damaged):
                damaged[place] = data.draw(st.integers(0, 255))
            case 1:
                damaged[place:place] = data.draw(st.binary(max_size=20))
            case _:
                del damaged[place:]
    if data.draw(st.booleans()) and len(damaged) >= HEADER_BYTES[2] and damaged[12] <= 2:
        seal(damaged)  # a right checksum over wrong bytes
    spans = []
    with contextlib.suppress(CorruptError):
        spans = cut_batches(damaged)
    position = 0
    for span in spans:
        assert span.start == position
        assert crc_is_right(damaged, span)
        assert span.header.last_offset_delta == max(span.header.record_count - 1, 0)
        position = span.end
    assert position in {0, len(damaged)}, "all or nothing"


@settings(max_examples=5 * EXAMPLES)
@given(st.binary(max_size=300))
def test_random_bytes_are_refused(data: bytes) -> None:
    """Nothing but a batch is a batch."""
    with contextlib.suppress(CorruptError):
        cut_batches(data)
        raise AssertionError("random bytes passed a checksum")


@given(st.integers(0, 400), st.integers(0, 400))
def test_views_give_the_same_spans(before: int, after: int) -> None:
    """A payload inside a larger buffer is cut like a payload of its own."""
    batch = ids_batch(range(5))
    frame = bytes(before) + batch + bytes(after)
    view = memoryview(frame)[before : before + len(batch)]
    assert cut_batches(view) == cut_batches(batch)
