"""Kv batches: what a PUT_KV carries."""

from __future__ import annotations

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_batches import guarded
from recorded_tables import Recorded, upserts
from row_strategies import unhurried
from row_vectors import VECTORS

from lakeward.errors import CorruptError
from lakeward.records.batch.crc32c import checksum
from lakeward.records.batch.kv_batch import KV_BATCH, KvBatch, build_kv_batch, parse_kv_batch, seal_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.row import compacted_row

pairs = st.lists(st.tuples(st.binary(max_size=200), st.none() | st.binary(min_size=1, max_size=300)), max_size=20)


def records_of(batch: KvBatch) -> list[tuple[bytes, bytes | None]]:
    """Keys and rows; None deletes."""
    raw = batch.data.tobytes()
    return [
        (raw[a:b], None if c < 0 else raw[c:d])
        for a, b, c, d in zip(batch.key_starts, batch.key_ends, batch.row_starts, batch.row_ends, strict=True)
    ]


def built(records: list[tuple[bytes, bytes | None]], schema_id: int = 1, writer: int = -1, sequence: int = -1) -> bytes:
    """A batch of these keys and rows."""
    keys, rows = Spans.of([k for k, _ in records]), Spans.of([r or b"" for _, r in records])
    return bytes(build_kv_batch(schema_id, keys, rows, writer, sequence))


@pytest.mark.parametrize("vector", VECTORS["kv_batches"], ids=lambda v: v["name"])
def test_batches_of_the_vectors_are_read_and_written(vector: dict) -> None:
    """What the official client and the Java classes send is understood, and ours has the same bytes."""
    told = vector["decoded"]
    batch = parse_kv_batch(memoryview(bytes.fromhex(vector["hex"])))
    expected = [(bytes.fromhex(r["key"]), r["row"] and bytes.fromhex(r["row"])) for r in told["records"]]
    assert records_of(batch) == expected
    assert (batch.schema_id, batch.writer_id, batch.batch_sequence, batch.record_count) == tuple(
        told[name] for name in ("schema_id", "writer_id", "batch_sequence", "record_count")
    )
    assert built(expected, told["schema_id"], told["writer_id"], told["batch_sequence"]).hex() == vector["hex"]


@pytest.mark.parametrize("recorded", list(upserts()), ids=lambda r: f"exchange-{r.place}-bucket-{r.bucket_id}")
def test_recorded_batches_are_read_and_written(recorded: Recorded) -> None:
    """Batches that the official client sent to Apache Fluss hold rows of their tables, and are built again."""
    batch = parse_kv_batch(recorded.batch)
    records = records_of(batch)
    codec = compacted_row.codec(tuple(c.type for c in recorded.schema.columns))
    assert all(codec.decode(row) for _, row in records if row is not None)
    assert built(records, batch.schema_id, batch.writer_id, batch.batch_sequence) == recorded.batch


@unhurried
@given(pairs, st.integers(0, 2**15 - 1), st.integers(-1, 2**63 - 1), st.integers(-1, 2**31 - 1))
def test_batches_survive_a_round_trip(records, schema_id: int, writer: int, sequence: int) -> None:
    """Keys, rows and deletes come back in order, with who sent them."""
    batch = parse_kv_batch(built(records, schema_id, writer, sequence))
    assert records_of(batch) == records
    assert (batch.schema_id, batch.writer_id, batch.batch_sequence) == (schema_id, writer, sequence)


def test_keys_are_handed_on_as_spans() -> None:
    """A store takes keys where they lie."""
    batch = parse_kv_batch(built([(b"ab", b"row"), (b"c", None)]))
    assert batch.keys.sizes.tolist() == [2, 1]


def test_without_rows_all_keys_are_deleted() -> None:
    """Deleting needs keys only."""
    batch = parse_kv_batch(build_kv_batch(1, Spans.of([b"a", b"b"]), None))
    assert records_of(batch) == [(b"a", None), (b"b", None)]


def test_a_batch_that_goes_again_is_sealed_again() -> None:
    """Writer and sequence may change after a failure; keys and rows stay."""
    batch = build_kv_batch(1, Spans.of([b"a"]), Spans.of([b"row"]), 7, 0)
    seal_kv_batch(batch, 8, 5)
    again = parse_kv_batch(batch)
    assert (again.writer_id, again.batch_sequence, records_of(again)) == (8, 5, [(b"a", b"row")])


def test_every_flipped_byte_is_noticed() -> None:
    """Length, version, checksum and all after it are guarded."""
    batch = built([(b"key", b"row"), (b"other", None)])
    for place in range(len(batch)):
        damaged = bytearray(batch)
        damaged[place] ^= 0x10
        with pytest.raises(CorruptError):
            parse_kv_batch(damaged)


def test_every_cut_and_every_addition_is_noticed() -> None:
    """The bytes of a bucket are one batch, no more and no less."""
    batch = built([(b"key", b"row")])
    for wrong in (*(batch[:size] for size in range(len(batch))), batch + b"\0", batch + batch):
        with pytest.raises(CorruptError):
            parse_kv_batch(wrong)


def sealed(records: bytes, count: int) -> bytes:
    """A batch with a right length and checksum around any bytes."""
    head = KV_BATCH.struct.pack(24 + len(records), 0, 0, 1, 0, -1, -1, count)
    whole = bytearray(head + records)
    struct.pack_into("<I", whole, 5, checksum(whole[9:]))
    return bytes(whole)


@pytest.mark.parametrize(
    ("records", "count", "why"),
    [
        ("", 1, "hold no 1 records"),
        ("", -1, "hold no -1 records"),
        ("0100000000" * 3, 2**31 - 1, "hold no 2147483647 records"),
        ("ffffffff00", 1, "record 0 of 1"),
        ("ffffff7f00", 1, "record 0 of 1"),
        ("0000000000", 1, "record 0 of 1"),
        ("0100000001", 1, "record 0 of 1"),
        ("06000000ffffffffff0f", 1, "record 0 of 1"),
        ("06000000ffffffff0f78", 1, "record 0 of 1"),
        ("01000000000a000000ff", 2, "record 1 of 2"),
        ("010000000000", 1, "bytes follow its 1 records"),
        ("00", 0, "bytes follow its 0 records"),
    ],
)
def test_records_that_do_not_fit_are_refused(records: str, count: int, why: str) -> None:
    """A right checksum does not make a record: every length is checked against what is there."""
    with pytest.raises(CorruptError, match=why):
        parse_kv_batch(sealed(bytes.fromhex(records), count))


@unhurried
@given(st.binary(max_size=80), st.integers(0, 12))
def test_garbage_records_are_refused_without_reading_past_them(garbage: bytes, count: int) -> None:
    """Random records are some batch or CORRUPT_RECORD; no byte outside is read."""
    with guarded(sealed(garbage, count)) as memory, contextlib.suppress(CorruptError):
        batch = parse_kv_batch(memory.data)
        assert np.all(batch.key_starts <= batch.key_ends)


def test_an_empty_key_is_a_key() -> None:
    """The format allows it; whether a table does is not its business."""
    assert records_of(parse_kv_batch(built([(b"", b"row")]))) == [(b"", b"row")]


def test_the_layout_is_the_one_of_the_specification() -> None:
    """Offsets of the byte table."""
    assert [KV_BATCH.offset(f.name) for f in KV_BATCH.fields] == [0, 4, 5, 9, 11, 12, 20, 24]
