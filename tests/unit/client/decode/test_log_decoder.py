"""Log batches become the asked columns, whatever schema wrote them and wherever the reader begins."""

from __future__ import annotations

import pyarrow as pa
import pytest
from arrow_batches import arrow_batch, ids_batch
from fake_cluster import table_info

from lakeward.client.decode.log_decoder import Chunk, LogDecoder
from lakeward.client.forms.damage import Damage
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.data_types import STRING
from lakeward.model.schema import Column
from lakeward.records.arrow.log_batch_builder import LogBatchBuilder
from lakeward.records.batch.batch_header import BatchHeader, write_header
from lakeward.records.batch.log_batch import seal, stamp
from lakeward.records.batch.predicate import Function, Leaf
from lakeward.records.batch.statistics import ColumnStatistics, encode_statistics

INFO = table_info("id BIGINT, name STRING, size INT")
ROWS = pa.record_batch(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "name": pa.array(["a", None, "c"]),
        "size": pa.array([10, 20, 30], pa.int32()),
    }
)


def chunk(data: bytes, start: int = 0, end: int | None = None, *, projected: bool = False) -> Chunk:
    """Bytes of bucket 4."""
    return Chunk(memoryview(bytes(data)), 4, start, end, projected)


def rows_of(batches: list[pa.RecordBatch]) -> list[dict]:
    """All rows."""
    return [row for b in batches for row in b.to_pylist()]


def test_all_columns_in_table_order() -> None:
    """Without a choice the whole row comes out."""
    decoder = LogDecoder(INFO)
    assert decoder.projection == ()
    assert rows_of(decoder.decode(chunk(arrow_batch(ROWS, "zstd")))) == ROWS.to_pylist()


def test_asked_columns_travel_in_table_order_and_come_out_as_asked() -> None:
    """The wire wants ascending positions; the reader wants their own order."""
    decoder = LogDecoder(INFO, ["size", "id"])
    assert decoder.projection == (0, 2)
    on_wire = arrow_batch(ROWS.select(["id", "size"]))
    (out,) = decoder.decode(chunk(on_wire, projected=True))
    assert out.schema.names == ["size", "id"]
    assert out.to_pylist() == [{"size": 10, "id": 1}, {"size": 20, "id": 2}, {"size": 30, "id": 3}]


def test_whole_rows_are_projected_here() -> None:
    """Remote segments, and servers that cannot project, send every column."""
    decoder = LogDecoder(INFO, ["name"])
    assert rows_of(decoder.decode(chunk(arrow_batch(ROWS)))) == [{"name": "a"}, {"name": None}, {"name": "c"}]


@pytest.mark.parametrize("codec", [None, "zstd", "lz4"])
@pytest.mark.parametrize("magic", [0, 1, 2])
@pytest.mark.parametrize("changes", [None, bytes([3, 3, 4])])
def test_columns_are_left_out_before_they_are_decoded(codec: str | None, magic: int, changes: bytes | None) -> None:
    """Whatever the batch looks like, the asked columns are those of the whole row."""
    statistics = b"\x09statistics of a later version" if magic else b""
    batch = arrow_batch(ROWS, codec, magic=magic, statistics=statistics, change_types=changes)
    decoder = LogDecoder(INFO, ["size", "id"], metadata_columns=True)
    whole = LogDecoder(INFO, metadata_columns=True).decode(chunk(batch))[0]
    (out,) = decoder.decode(chunk(batch))
    assert out.equals(whole.select(out.schema.names))


def test_batches_that_cannot_match_are_passed_over() -> None:
    """A server leaves them out; from a file store they come, and we judge them by the same statistics."""
    batches = b"".join(
        bytes(
            arrow_batch(
                ROWS,
                magic=1,
                base_offset=3 * at,
                statistics=encode_statistics(
                    [ColumnStatistics(2, 0, 10 * at, 10 * at + 9)], [c.type for c in INFO.schema.columns]
                ),
            )
        )
        for at in range(4)
    )
    where = Leaf(Function.GREATER_OR_EQUAL, INFO.schema.column("size").id, (20,))
    decoder = LogDecoder(INFO, ["id"], metadata_columns=True, where=where)
    from_store = Chunk(memoryview(batches), 4, 0, None, projected=False, unfiltered=True)
    assert [row["_offset"] for row in rows_of(decoder.decode(from_store))] == [6, 7, 8, 9, 10, 11]
    assert len(rows_of(decoder.decode(chunk(batches)))) == 12


def test_rows_outside_the_asked_offsets_are_left_out() -> None:
    """The first batch may begin before the wanted offset, the last may end after it."""
    data = ids_batch([0, 1, 2], base_offset=10) + ids_batch([3, 4, 5], base_offset=13)
    decoder = LogDecoder(table_info("id BIGINT"))
    assert [r["id"] for r in rows_of(decoder.decode(chunk(data, 11, 15)))] == [1, 2, 3, 4]
    assert decoder.decode(chunk(data, 16)) == []


def test_metadata_columns_say_where_a_row_stands() -> None:
    """Bucket, offset, commit time and change type follow the row's own columns."""
    data = arrow_batch(ROWS, change_types=bytes([1, 2, 3]), base_offset=50)
    out = rows_of(LogDecoder(INFO, ["id"], metadata_columns=True).decode(chunk(data, 51)))
    assert [(r["id"], r["_bucket"], r["_offset"], r["_change_type"]) for r in out] == [
        (2, 4, 51, "-U"),
        (3, 4, 52, "+U"),
    ]
    assert out[0]["_timestamp"].timestamp() == 0


def test_plain_appends_are_marked_so() -> None:
    """A batch without change types holds appends."""
    out = rows_of(LogDecoder(INFO, metadata_columns=True).decode(chunk(arrow_batch(ROWS))))
    assert {r["_change_type"] for r in out} == {"+A"}


def test_a_batch_without_rows_is_passed_over() -> None:
    """A changelog batch may take an offset and hold nothing."""
    empty = arrow_batch(ROWS.slice(0, 0), change_types=b"", base_offset=5)[:48]
    empty[8:12] = (36).to_bytes(4, "little")
    data = bytes(empty) + arrow_batch(ROWS, base_offset=6)
    assert len(rows_of(LogDecoder(INFO, check_crc=False).decode(chunk(data)))) == 3


def test_older_batches_have_null_for_younger_columns() -> None:
    """Columns are matched by id; what a batch cannot know is NULL."""
    younger = INFO.schema.add_column(Column("note", STRING()))
    info = table_info("id BIGINT, name STRING, size INT, note STRING", schema_id=2)
    decoder = LogDecoder(info, ["note", "id"])
    data = chunk(arrow_batch(ROWS, schema_id=1))
    assert decoder.unknown_schemas(data) == {1}
    decoder.learn(1, INFO.schema)
    assert decoder.unknown_schemas(data) == set()
    assert rows_of(decoder.decode(data)) == [{"note": None, "id": i} for i in (1, 2, 3)]
    assert younger.columns == info.schema.columns


def test_younger_batches_lose_columns_the_reader_does_not_know() -> None:
    """A reader opened before a column was added goes on as before."""
    wide = ROWS.append_column("note", pa.array(["n"] * 3))
    decoder = LogDecoder(INFO)
    decoder.learn(2, INFO.schema.add_column(Column("note", STRING())))
    assert rows_of(decoder.decode(chunk(arrow_batch(wide, schema_id=2)))) == ROWS.to_pylist()


def test_a_projected_old_batch_holds_the_columns_it_had() -> None:
    """The server leaves out positions that a batch's schema does not reach."""
    info = table_info("id BIGINT, name STRING, size INT, note STRING", schema_id=2)
    decoder = LogDecoder(info, ["id", "note"])
    decoder.learn(1, INFO.schema)
    data = chunk(arrow_batch(ROWS.select(["id"]), schema_id=1), projected=True)
    assert rows_of(decoder.decode(data)) == [{"id": i, "note": None} for i in (1, 2, 3)]


def test_many_small_batches_come_out_as_one() -> None:
    """Single-row writes do not become single-row batches for the reader."""
    data = b"".join(bytes(ids_batch([i], base_offset=i)) for i in range(50))
    (out,) = LogDecoder(table_info("id BIGINT")).decode(chunk(data))
    assert out.column("id").to_pylist() == list(range(50))


def test_damage_is_found_by_the_checksum() -> None:
    """A flipped bit is CORRUPT_RECORD with table, bucket and offset, unless checks are off or the server projected."""
    data = bytearray(arrow_batch(ROWS, base_offset=9))
    data[-1] ^= 1
    with pytest.raises(LakewardError, match=r"db\.t, bucket 4, offsets 9 to 11") as caught:
        LogDecoder(INFO).decode(chunk(data))
    assert caught.value.code is ErrorCode.CORRUPT_RECORD
    assert LogDecoder(INFO, check_crc=False).decode(chunk(data))


def test_rows_that_are_no_arrow_are_corrupt() -> None:
    """Bytes that pyarrow cannot read are our error, not its own."""
    data = bytearray(arrow_batch(ROWS))
    data[60:100] = b"\xff" * 40
    with pytest.raises(LakewardError) as caught:
        LogDecoder(INFO, check_crc=False).decode(chunk(data))
    assert caught.value.code is ErrorCode.CORRUPT_RECORD


@pytest.mark.parametrize("log_format", ["INDEXED", "COMPACTED"])
def test_row_formats_are_decoded(log_format: str) -> None:
    """Logs of rows give the same Arrow batches, and are never projected by the server."""
    info = table_info("id BIGINT, name STRING, size INT", table_log_format=log_format)
    data = LogBatchBuilder(info.schema, log_format).encode(ROWS).seal(1)
    decoder = LogDecoder(info, ["name", "id"], metadata_columns=True)
    assert decoder.projection == ()
    out = rows_of(decoder.decode(chunk(bytes(data))))
    assert [(r["name"], r["id"], r["_change_type"]) for r in out] == [("a", 1, "+A"), (None, 2, "+A"), ("c", 3, "+A")]


def test_offsets_without_rows_were_given_up_unless_a_changelog_is_compacted() -> None:
    """A batch without rows that takes many offsets is what `lakeward repair` leaves, and compaction of a changelog."""
    filler = bytearray(write_header(BatchHeader(0, 0, 0, 0, 0, 1, 0, 9, -1, -1, 0)))
    seal(filler)
    stamp(filler, 0, 3, 0)
    data = bytes(ids_batch([1, 2, 3])) + bytes(filler) + bytes(ids_batch([4], base_offset=13))
    for columns, properties, told in (
        ("id BIGINT", {}, [(3, 13)]),
        ("id BIGINT, PRIMARY KEY (id)", {}, [(3, 13)]),
        ("id BIGINT, PRIMARY KEY (id)", {"table_log_compaction_enabled": "true"}, []),
    ):
        damage = Damage(table_info(columns).path)
        decoder = LogDecoder(table_info(columns, **properties), damage=damage)
        rows = decoder.decode(Chunk(memoryview(data), 0, 0, None, projected=False))
        assert [i for batch in rows for i in batch.column("id").to_pylist()] == [1, 2, 3, 4]
        assert [(one.start, one.stop) for one in damage.left_out] == told


def test_where_rows_stand_is_told_of_many_small_batches_together() -> None:
    """Some with changes, one begun in the middle, some with offsets between them."""
    batches = [ids_batch([i, i]) for i in range(3)]
    batches.append(arrow_batch(pa.record_batch({"id": [7, 8]}), change_types=bytes([1, 4])))
    for number, batch in enumerate(batches):
        stamp(batch, 0, 10 * number, number)
    decoder = LogDecoder(table_info("id BIGINT"), metadata_columns=True)
    (out,) = decoder.decode(chunk(b"".join(batches), 1, 32))
    assert out.column("_offset").to_pylist() == [1, 10, 11, 20, 21, 30, 31]
    assert out.column("id").to_pylist() == [0, 1, 1, 2, 2, 7, 8]
    assert out.column("_change_type").to_pylist() == ["+A"] * 5 + ["+I", "-D"]
    assert out.column("_timestamp").cast("int64").to_pylist() == [0, 1, 1, 2, 2, 3, 3]
