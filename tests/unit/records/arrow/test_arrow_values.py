"""Values that are none of their type are found, whatever the quick look says; good ones pass."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from arrow_batches import EVERY_SHAPE
from hypothesis import given
from hypothesis import strategies as st

from lakeward.records.arrow.arrow_values import check_values


def column(type_: pa.DataType, count: int, *buffers: bytes | None) -> pa.RecordBatch:
    """A column of these very buffers."""
    made = [None if b is None else pa.py_buffer(b) for b in buffers]
    return pa.RecordBatch.from_arrays([pa.Array.from_buffers(type_, count, made)], names=["c"])


def offsets(*at: int) -> bytes:
    """Offsets as they lie in a buffer."""
    return b"".join(one.to_bytes(4, "little", signed=True) for one in at)


def test_good_values_pass() -> None:
    """Columns of every shape, without rows too."""
    check_values(EVERY_SHAPE)
    check_values(EVERY_SHAPE.slice(0, 0))


@pytest.mark.parametrize(
    "bad",
    [
        column(pa.string(), 2, None, offsets(0, 2, 1), b"ab"),
        column(pa.string(), 2, None, offsets(0, 9, 2), b"ab"),
        column(pa.string(), 1, None, offsets(0, 2), b"\xff\xfe"),
        column(pa.string(), 2, None, offsets(0, 1, 2), "ä".encode()),
        column(pa.binary(), 2, None, offsets(0, 2, 1), b"ab"),
        column(pa.time32("ms"), 1, None, (86_400_000).to_bytes(4, "little")),
        column(pa.decimal128(5, 2), 1, None, (10**17).to_bytes(16, "little")),
    ],
)
def test_bad_values_are_told_with_their_column(bad: pa.RecordBatch) -> None:
    """Offsets that fall or leave the buffer, bytes that are no UTF-8, half a letter, times and digits out of range."""
    with pytest.raises(pa.ArrowInvalid, match="column c of type"):
        check_values(bad)


@given(st.lists(st.one_of(st.none(), st.text(max_size=6)), min_size=1), st.data())
def test_the_quick_look_agrees_with_arrow(texts: list[str | None], data: st.DataObject) -> None:
    """Whatever byte of a text or of its offsets is changed: what passes here passes there."""
    good = pa.array(texts, pa.string())
    validity, *rest = (None if b is None else bytearray(b.to_pybytes()) for b in good.buffers())
    which = data.draw(st.integers(0, len(rest) - 1))
    if rest[which]:
        at = data.draw(st.integers(0, len(rest[which]) - 1))
        rest[which][at] = data.draw(st.integers(0, 255))
    buffers = [None if b is None else pa.py_buffer(bytes(b)) for b in (validity, *rest)]
    try:
        made = pa.Array.from_buffers(pa.string(), len(texts), buffers)
    except pa.ArrowInvalid:
        return
    try:
        check_values(pa.RecordBatch.from_arrays([made], names=["c"]))
    except pa.ArrowInvalid:
        with pytest.raises(pa.ArrowInvalid):
            made.validate(full=True)
    else:
        made.validate(full=True)


def test_what_lies_under_a_null_is_nobodys() -> None:
    """Bytes that are no text, under a NULL, are let through."""
    check_values(pa.record_batch({"c": pa.array([None, "größer"])}))
    check_values(column(pa.time32("ms"), 1, b"\x00", (86_400_000).to_bytes(4, "little")))


def test_sums_in_a_changelog_may_have_more_digits() -> None:
    """As Apache Fluss stores them."""
    sums = column(pa.decimal128(5, 2), 1, None, (10**9).to_bytes(16, "little"))
    check_values(sums, in_range=False)
    assert sums.column(0)[0].as_py() == Decimal("10000000.00")
