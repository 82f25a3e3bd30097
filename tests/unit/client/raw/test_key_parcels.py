"""Batches of a changelog as puts: what came before is left out, deletes are keys alone, nothing is a put of nothing."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch

from lakeward.client.decode.log_decoder import Chunk
from lakeward.client.raw.key_parcels import ChangeTranslator
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_type
from lakeward.records.batch.kv_batch import parse_kv_batch

_SCHEMA = Schema.of([Column("id", parse_type("INT NOT NULL")), Column("name", parse_type("STRING"))], ("id",))
_INFO = TableInfo(TablePath("shop", "people"), 7, 1, TableDescriptor(_SCHEMA, bucket_count=1).normalize(), 0, 0)


def _changes(base: int, *rows: tuple[str, int, str | None]) -> bytes:
    """A batch of a changelog: kinds, ids and names."""
    kinds = ("+A", "+I", "-U", "+U", "-D")
    columns = [pa.array([r[1] for r in rows], pa.int32()), pa.array([r[2] for r in rows], pa.string())]
    batch = pa.record_batch(columns, names=["id", "name"])
    return bytes(arrow_batch(batch, change_types=bytes(kinds.index(r[0]) for r in rows), base_offset=base))


def _chunk(*batches: bytes) -> Chunk:
    return Chunk(memoryview(b"".join(batches)), 0, 0, None, projected=False)


def test_changes_become_puts_and_deletes_in_their_order() -> None:
    """One put for each batch, at its offsets."""
    translator = ChangeTranslator(_INFO, _INFO, {1: _SCHEMA})
    first = _changes(0, ("+I", 1, "a"), ("-U", 1, "a"), ("+U", 1, "b"), ("-D", 1, "b"))
    second = _changes(4, ("+I", 2, None))
    one, two = translator.parcels(_chunk(first, second), 0)
    assert [(p.first, p.end, p.rows) for p in (one, two)] == [(0, 4, 4), (4, 5, 1)]
    put = parse_kv_batch(one.seal(5, 3))
    assert (put.writer_id, put.batch_sequence, put.record_count) == (5, 3, 3)
    assert [bool(start >= 0) for start in put.row_starts] == [True, True, False]
    assert one.behind(0) is one
    assert one.behind(4) is None


def test_missing_changes_are_told() -> None:
    """A hole in a changelog cannot be copied change by change."""
    translator = ChangeTranslator(_INFO, _INFO, {1: _SCHEMA})
    with pytest.raises(LakewardError) as caught:
        translator.parcels(_chunk(_changes(5, ("+I", 1, "a"))), 0)
    assert caught.value.code is ErrorCode.LOG_OFFSET_OUT_OF_RANGE
