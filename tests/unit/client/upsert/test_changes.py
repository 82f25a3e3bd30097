"""Rows and keys become records of the buckets they belong to."""

from __future__ import annotations

import pyarrow as pa
import pytest
from fake_cluster import table_info
from hypothesis import given
from hypothesis import strategies as st

from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.upsert.changes import KEY_BYTES_MAX, ChangeEncoder, EncodedChanges, group_places
from lakeward.client.write.batching import Destination
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo
from lakeward.records.batch.kv_batch import parse_kv_batch
from lakeward.records.key.bucketing import bucket_of

INFO = table_info("a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED")
ROWS = pa.record_batch({"a": pa.array([1, 2], pa.int32()), "b": pa.array(["x", None])})


def encoder(info: TableInfo) -> ChangeEncoder:
    """Of a table that follows Java."""
    return ChangeEncoder(info, TableKeys(info), Bucketing.JAVA)


def test_upserts_and_deletes_in_one_batch() -> None:
    """Section 3.3 of the format reference, byte for byte."""
    made = encoder(INFO)
    ((to, puts),) = made.upserts(ROWS)
    ((_, deletes),) = made.deletes(pa.record_batch({"a": pa.array([7], pa.int32())}))
    assert to == Destination(None, 0)
    batch = EncodedChanges(1, [puts, deletes])
    expected = bytes.fromhex(
        "30000000 00 ca460d66 0100 00 e903000000000000 00000000 03000000"
        "06000000 01 01 00 01 01 78 04000000 01 02 02 02 02000000 01 07"
    )
    assert bytes(batch.seal(1, 1001, 0)) == expected
    assert batch.size == len(expected)
    assert parse_kv_batch(batch.seal(1, 5, 9)).batch_sequence == 9, "a batch that goes again is sealed again"


def test_indexed_rows() -> None:
    """The same content where the table says INDEXED."""
    info = table_info("a INT, b STRING, PRIMARY KEY (a) NOT ENFORCED", table_kv_format="INDEXED")
    ((_, puts),) = encoder(info).upserts(ROWS)
    records = bytes(EncodedChanges(1, [puts]).seal(1, 1001, 0))[28:]
    assert records == bytes.fromhex("0c000000 01 01 00 01000000 01000000 78 0b000000 01 02 02 00000000 02000000")


@given(st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.sampled_from("xyz")), max_size=50))
def test_every_row_goes_to_its_partition_and_bucket_in_order(rows: list[tuple[int, str]]) -> None:
    """Nothing is lost, nothing is doubled, and rows of one bucket keep their order."""
    info = table_info("p STRING, a INT, n INT, PRIMARY KEY (p, a) NOT ENFORCED", partition_by=("p",), buckets=5)
    batch = pa.record_batch(
        {
            "p": pa.array([p for _, p in rows], pa.string()),
            "a": pa.array([a for a, _ in rows], pa.int32()),
            "n": pa.array(range(len(rows)), pa.int32()),
        }
    )
    expected: dict[Destination, list[int]] = {}
    keys = TableKeys(info).encode(batch)
    for i, (_, partition) in enumerate(rows):
        expected.setdefault(Destination(partition, bucket_of(keys[i], 5, None)), []).append(i)
    assert {to: piece.which.tolist() for to, piece in encoder(info).upserts(batch)} == expected


@given(st.lists(st.integers(0, 70_000)))
def test_groups_hold_the_places_of_their_code(codes: list[int]) -> None:
    """Also where there are more groups than 16 bits can name."""
    import numpy as np

    found = {code: which.tolist() for code, which in group_places(np.array(codes, np.int64), 70_001)}
    assert found == {code: [i for i, c in enumerate(codes) if c == code] for code in codes}


def test_a_key_over_the_limit_is_refused_when_put_and_taken_when_deleted() -> None:
    """What is too long to store may still be removed."""
    info = table_info("k STRING, PRIMARY KEY (k) NOT ENFORCED")
    fits = pa.record_batch({"k": ["y" * (KEY_BYTES_MAX - 3)]})
    long = pa.record_batch({"k": ["y", "x" * KEY_BYTES_MAX]})
    assert encoder(info).upserts(fits)
    with pytest.raises(LakewardError, match=r"key of row 1 for db\.t") as caught:
        encoder(info).upserts(long)
    assert caught.value.code is ErrorCode.RECORD_TOO_LARGE
    assert encoder(info).deletes(long)


def test_no_rows_go_nowhere() -> None:
    """An empty batch is no record."""
    assert encoder(INFO).upserts(ROWS.slice(0, 0)) == []
