"""Changelog batches: written without Arrow, read by Arrow, and read back for replay."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_batches import FORMS, brisk, encoded, guarded, schema_of, tables
from recorded_tables import Recorded, changelogs
from row_strategies import scalar_types
from row_vectors import VECTORS

from lakeward.errors import CorruptError, InvalidError, LakewardError
from lakeward.model.data_types import BIGINT, INT, STRING, DataType
from lakeward.records.arrow.arrow_row_kernels import arrow_of_rows
from lakeward.records.arrow.arrow_types import arrow_schema
from lakeward.records.arrow.row_batches import records_of
from lakeward.records.batch.batch_header import HEADER_BYTES, read_header
from lakeward.records.batch.changelog_batch import build_changelog_batch, build_row_changelog_batch, changelog_rows
from lakeward.records.batch.log_batch import cut_batches, seal
from lakeward.records.columnar.row_kernels import RowForm
from lakeward.records.ipc.buffer_codecs import codec_of
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_encoding import KeyEncoding, key_encoder

CHANGE_TYPES = ("+A", "+I", "-U", "+U", "-D")
TWO = (INT(), STRING())
of_changes = st.integers(0, 4)
every_form = pytest.mark.parametrize("form", FORMS)


def bytes_of(spans: Spans) -> list[bytes]:
    """The stretches as bytes."""
    return [ctypes.string_at(int(a), int(b - a)) for a, b in zip(spans.starts, spans.ends, strict=True)]


def keyed(types: Sequence[DataType], lines: list[Any]) -> tuple[tuple[DataType, ...], list[Any]]:
    """The table with a key before its columns."""
    return (BIGINT().not_null(), *types), [(i, *line) for i, line in enumerate(lines)]


def arrow_of(batch: bytes | bytearray, types: Sequence[DataType]) -> tuple[list[int], pa.RecordBatch]:
    """Change types and rows, as a client reads them."""
    (span,) = cut_batches(batch)
    count = span.header.record_count
    raw = bytes(batch)[HEADER_BYTES[0] :]
    rows = pa.ipc.read_record_batch(pa.py_buffer(raw[count:]), arrow_schema(schema_of(types)))
    rows.validate(full=True)
    return list(raw[:count]), rows


def a_changelog(form: RowForm = RowForm.COMPACTED, **more: Any) -> bytearray:
    """+I(1,x) -U(1,x) +U(1,y) -D(1,y)."""
    rows = Spans.of(encoded(form, TWO, [(1, "x"), (1, "x"), (1, "y"), (1, "y")]))
    return build_changelog_batch(TWO, 1, np.array([1, 2, 3, 4], np.uint8), rows, form=form, **more)


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS["log_batches"] if v["name"].endswith("changelog")], ids=lambda v: v["name"]
)
def test_changelogs_of_java_are_read_and_written(vector: dict) -> None:
    """Row-formatted and empty batches have Java's bytes; of Arrow ones the header, change types and contents."""
    raw, log_format = bytes.fromhex(vector["hex"]), vector["log_format"]
    read = changelog_rows(raw, TWO, [0], log_format=log_format)
    codec = FORMS[RowForm.COMPACTED](TWO)
    told = [[CHANGE_TYPES[c], *codec.decode(r)] for c, r in zip(read.change_types, bytes_of(read.rows), strict=True)]
    assert told == vector["records"]
    assert bytes_of(read.keys) == [bytes([r[1]]) for r in vector["records"]]
    writer = {"writer_id": 1001, "batch_sequence": 0}
    if log_format != "ARROW":
        again = build_row_changelog_batch(TWO, 1, read.change_types, read.rows, log_form=RowForm(log_format), **writer)
        assert again.hex() == vector["hex"]
        return
    again = build_changelog_batch(TWO, 1, read.change_types, read.rows, **writer)
    assert again[25:48] == raw[25:48]
    if told:
        assert arrow_of(again, TWO)[0] == arrow_of(raw, TWO)[0]
        assert arrow_of(again, TWO)[1].equals(arrow_of(raw, TWO)[1])
    else:
        assert again.hex() == vector["hex"]


@pytest.mark.parametrize("recorded", list(changelogs()), ids=lambda r: f"exchange-{r.place}-table-{r.table_id}")
def test_recorded_changelogs_are_read_and_written(recorded: Recorded) -> None:
    """Changelogs that Apache Fluss stored have the contents of those that we build of their rows."""
    types = [c.type for c in recorded.schema.columns]
    read = changelog_rows(recorded.batch, types, recorded.key_positions)
    header = read_header(recorded.batch)
    again = build_changelog_batch(
        types,
        header.schema_id,
        read.change_types,
        read.rows,
        writer_id=header.writer_id,
        batch_sequence=header.batch_sequence,
    )
    assert read_header(again)[5:11] == header[5:11]
    if header.record_count:
        changes, rows = arrow_of(recorded.batch, types)
        assert arrow_of(again, types)[0] == changes
        assert arrow_of(again, types)[1].equals(rows)
        assert bytes_of(read.keys) == [FORMS[RowForm.COMPACTED]((INT(),)).encode((r,))[1:] for r in rows[0].to_pylist()]


@every_form
@brisk
@given(table=tables(), data=st.data())
def test_a_changelog_holds_its_rows(form: RowForm, table, data) -> None:
    """Whatever the types, Arrow reads the rows, and replay gets change types and rows back."""
    types, lines = keyed(*table)
    raw = encoded(form, types, lines)
    changes = np.array([data.draw(of_changes) for _ in lines], np.uint8)
    batch = build_changelog_batch(types, 3, changes, Spans.of(raw), form=form, writer_id=9, batch_sequence=4)
    header = read_header(batch)
    assert (header.schema_id, header.writer_id, header.batch_sequence, header.attributes) == (3, 9, 4, 0)
    if lines:
        told, rows = arrow_of(batch, types)
        assert told == changes.tolist()
        assert rows.equals(arrow_of_rows(Spans.of(raw), schema_of(types), form))
    read = changelog_rows(batch, types, [0], form=form)
    assert read.change_types.tolist() == changes.tolist()
    assert bytes_of(read.rows) == raw


@every_form
@pytest.mark.parametrize("log_form", FORMS)
@brisk
@given(table=tables(), data=st.data())
def test_a_row_changelog_holds_its_rows(form: RowForm, log_form: RowForm, table, data) -> None:
    """Row-formatted logs hold rows in the log's format, and give them back in the store's."""
    types, lines = keyed(*table)
    raw = encoded(form, types, lines)
    changes = [data.draw(of_changes) for _ in lines]
    batch = build_row_changelog_batch(
        types, 1, np.array(changes, np.uint8), Spans.of(raw), form=form, log_form=log_form
    )
    cut_batches(batch)
    stored = [(change, bytes(row)) for change, row in records_of(bytes(batch[48:]), len(lines))]
    assert stored == list(zip(changes, encoded(log_form, types, lines), strict=True))
    read = changelog_rows(batch, types, [0], log_format=log_form.value, form=form)
    assert (read.change_types.tolist(), bytes_of(read.rows)) == (changes, raw)


@pytest.mark.parametrize("build", [build_changelog_batch, build_row_changelog_batch])
def test_old_and_new_rows_lie_in_buffers_of_their_own(build) -> None:
    """Old rows come from the store and new ones from the request, in any order, older ones with fewer columns."""
    store, request = b"--\x00\x01--", encoded(RowForm.COMPACTED, TWO, [(1, "new"), (2, "other")])
    sources = [np.frombuffer(store, np.uint8), np.frombuffer(b"".join(request), np.uint8)]
    starts, ends = [2, 0, len(request[0])], [4, len(request[0]), len(request[0] + request[1])]
    rows = Spans(sources, np.array(starts), np.array(ends), np.array([0, 1, 1], np.uint8))
    batch = build(TWO, 2, np.array([2, 3, 1], np.uint8), rows, column_counts=np.array([1, 2, 2]))
    log_format = "ARROW" if build is build_changelog_batch else "COMPACTED"
    read = changelog_rows(batch, TWO, [0], log_format=log_format)
    codec = FORMS[RowForm.COMPACTED](TWO)
    assert [codec.decode(r) for r in bytes_of(read.rows)] == [(1, None), (1, "new"), (2, "other")]
    assert bytes_of(read.keys) == [b"\x01", b"\x01", b"\x02"]


@brisk
@given(table=tables(scalar_types, columns_max=4), data=st.data())
def test_keys_are_found_again(table, data) -> None:
    """Replay derives from a row the key that a client would send, in the table's key encoding."""
    types, lines = table
    lines = [line for line in lines if None not in line]
    positions = data.draw(st.permutations(range(len(types))))
    encoding = data.draw(st.sampled_from([KeyEncoding.COMPACTED, KeyEncoding.PAIMON]))
    changes = np.ones(len(lines), np.uint8)
    batch = build_changelog_batch(types, 1, changes, Spans.of(encoded(RowForm.COMPACTED, types, lines)))
    read = changelog_rows(batch, types, positions, key_encoding=encoding)
    encode = key_encoder(encoding, tuple(types[p] for p in positions))
    assert bytes_of(read.keys) == [encode([line[p] for p in positions]) for line in lines]


@pytest.mark.parametrize("build", [build_changelog_batch, build_row_changelog_batch])
def test_no_changes_are_a_header(build) -> None:
    """A request that changes nothing still takes an offset and a sequence number."""
    batch = build(TWO, 1, np.zeros(0, np.uint8), Spans.of([]), writer_id=1001, batch_sequence=0)
    vector = next(v for v in VECTORS["log_batches"] if v["name"] == "java_arrow_v0_empty_changelog")
    assert batch.hex() == vector["hex"]
    assert len(changelog_rows(batch, TWO, [0]).rows) == 0


@pytest.mark.parametrize("build", [build_changelog_batch, build_row_changelog_batch])
def test_a_null_where_none_may_be_is_refused(build) -> None:
    """The table's NOT NULL holds for what its log stores; the refusal names the column."""
    types = (INT().not_null(), STRING())
    rows = Spans.of(encoded(RowForm.COMPACTED, types, [(1, None), (None, "x")]))
    with pytest.raises(InvalidError, match="Column 0 of type INT NOT NULL must not be NULL; 1 rows"):
        build(types, 1, np.array([1, 1], np.uint8), rows)


@pytest.mark.parametrize("name", ["ZSTD", "LZ4_FRAME"])
def test_compressed_changelogs_are_read_by_arrow_and_by_us(name: str) -> None:
    """Buffers are compressed one by one; those that do not shrink are stored as they are."""
    types = (BIGINT(), STRING(), INT())
    lines = [(i, f"name {i % 10}", None if i % 7 else i) for i in range(1000)]
    raw = encoded(RowForm.COMPACTED, types, lines)
    changes = np.ones(1000, np.uint8)
    batch = build_changelog_batch(types, 1, changes, Spans.of(raw), codec=codec_of(name))
    plain = build_changelog_batch(types, 1, changes, Spans.of(raw))
    assert len(batch) < 0.6 * len(plain)
    assert arrow_of(batch, types)[1].equals(arrow_of(plain, types)[1])
    assert bytes_of(changelog_rows(batch, types, [0]).rows) == raw


@pytest.mark.parametrize("log_format", ["ARROW", "COMPACTED", "INDEXED"])
@brisk
@given(data=st.data())
def test_damaged_changelogs_are_rows_or_corrupt(log_format: str, data) -> None:
    """Replay of a log that lies refuses it, and reads nothing outside."""
    if log_format == "ARROW":
        batch = a_changelog()
    else:
        rows = Spans.of(encoded(RowForm.COMPACTED, TWO, [(1, "x"), (2, None)]))
        batch = build_row_changelog_batch(TWO, 1, np.array([1, 1], np.uint8), rows, log_form=RowForm(log_format))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(44, len(batch) - 1))
        batch[place] = data.draw(st.integers(0, 255) | st.sampled_from([0xFF, 0x7F, 0x80]))
    with guarded(bytes(batch)) as memory, contextlib.suppress(LakewardError):
        changelog_rows(memory.data, TWO, [0], log_format=log_format)


@pytest.mark.parametrize("place", [48, 52])
def test_a_change_type_is_one_of_five(place: int) -> None:
    """Whatever else stands there is damage, in both kinds of log."""
    rows = Spans.of(encoded(RowForm.COMPACTED, TWO, [(1, "x")]))
    build = build_changelog_batch if place == 48 else build_row_changelog_batch
    batch = build(TWO, 1, np.array([1], np.uint8), rows)
    batch[place] = 5
    seal(batch)
    with pytest.raises(CorruptError):
        changelog_rows(batch, TWO, [0], log_format="ARROW" if place == 48 else "COMPACTED")


@pytest.mark.parametrize("log_format", ["ARROW", "COMPACTED"])
@pytest.mark.parametrize("count", [-1, 3, 5, 1000, 2**31 - 1])
def test_a_batch_has_the_records_it_claims(log_format: str, count: int) -> None:
    """A count that is not that of the rows is damage, before memory is taken for it."""
    rows = Spans.of(encoded(RowForm.COMPACTED, TWO, [(1, "x")] * 4))
    build = build_changelog_batch if log_format == "ARROW" else build_row_changelog_batch
    batch = build(TWO, 1, np.ones(4, np.uint8), rows)
    batch[44:48] = count.to_bytes(4, "little", signed=True)
    with pytest.raises(CorruptError):
        changelog_rows(batch, TWO, [0], log_format=log_format)
