"""Value batches: what scans of primary key tables answer."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_batches import guarded
from row_strategies import unhurried
from row_vectors import VECTORS
from span_bytes import bytes_of

from lakeward.errors import CorruptError
from lakeward.records.batch.value_batch import encode_value_batch, parse_value_batch, split_values
from lakeward.records.kernels.spans import Spans

VECTOR = VECTORS["value_record_batch"][0]


def test_the_batch_of_the_vectors_is_read_and_written() -> None:
    """The bytes that the official client decodes."""
    raw = bytes.fromhex(VECTOR["hex"])
    values = parse_value_batch(memoryview(raw))
    assert bytes(encode_value_batch(values)) == raw
    ids, rows = split_values(values)
    told = VECTOR["decoded"]["records"]
    assert ids.tolist() == [r["schema_id"] for r in told]
    assert rows.sizes.tolist() == [len(r["row"]) // 2 for r in told]
    assert [v[2:].hex() for v in bytes_of(parse_value_batch(raw))] == [r["row"] for r in told]


@unhurried
@given(st.lists(st.binary(max_size=300), max_size=20))
def test_values_survive_a_round_trip(values: list[bytes]) -> None:
    """Values come back in order."""
    batch = encode_value_batch(Spans.of(values))
    assert bytes_of(parse_value_batch(batch)) == values


@unhurried
@given(st.lists(st.binary(max_size=50), max_size=5), st.data())
def test_damage_is_values_or_corrupt(values: list[bytes], data) -> None:
    """Without a checksum a flipped byte may go unnoticed, but nothing outside the batch is read."""
    batch = encode_value_batch(Spans.of(values))
    batch[data.draw(st.integers(0, len(batch) - 1))] = data.draw(st.integers(0, 255))
    with guarded(bytes(batch[: data.draw(st.integers(0, len(batch)))])) as memory, contextlib.suppress(CorruptError):
        assert sum(len(v) for v in bytes_of(parse_value_batch(memory.data))) <= len(batch)


@pytest.mark.parametrize(
    ("batch", "why"),
    [
        ("", "fewer than its header"),
        ("050000000000000000ff", "9 bytes"),
        ("050000000100000000", "version 1"),
        ("0500000000ffffffff", "no -1 values"),
        ("050000000001000000", "no 1 values"),
        ("09000000000100000005000000", "value 0 of 1"),
        ("0a000000000100000000000000ff", "value 1 of 1"),
    ],
)
def test_what_is_wrong_is_said(batch: str, why: str) -> None:
    """The refusal names the value and the reason."""
    with pytest.raises(CorruptError, match=why):
        parse_value_batch(bytes.fromhex(batch))


def test_a_value_has_a_schema_id() -> None:
    """One byte is no stored value."""
    with pytest.raises(CorruptError, match="value 1 of 2 is shorter"):
        split_values(Spans.of([b"\x01\0row", b"\x01"]))
