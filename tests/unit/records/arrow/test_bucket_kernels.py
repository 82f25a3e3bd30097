"""Whole columns to buckets: the kernels agree with the reference on every value."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from key_bytes import encode_key
from row_strategies import scalar_types, unhurried, values
from row_vectors import VECTORS, label, types_of, values_of

from lakeward.errors import InvalidError
from lakeward.model.data_types import ARRAY, BOOLEAN, FLOAT, INT, STRING, TypeRoot
from lakeward.records.arrow.arrow_rows import array_of
from lakeward.records.arrow.bucket_kernels import assign_buckets, encode_keys
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.key.key_encoding import KeyEncoding, bucket_key_encoding

LAKE_OF = {"compacted": None, "paimon": "paimon", "iceberg": "iceberg"}
NOT_ICEBERG = {TypeRoot.BOOLEAN, TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.TIMESTAMP_LTZ}


@st.composite
def keyed_rows(draw, columns_max=3, nullable=False, of=scalar_types):
    """Key column types and some rows."""
    types = tuple(draw(st.lists(of, min_size=1, max_size=columns_max)))
    row = st.tuples(*(values(t, nullable=nullable) for t in types))
    return types, draw(st.lists(row, min_size=1, max_size=8))


def columns_of(types, rows) -> list[pa.Array]:
    """The rows as Arrow columns, cut out of longer ones so that offsets matter."""
    padded = [rows[-1], *rows, rows[0]]
    return [array_of(column, t).slice(1, len(rows)) for column, t in zip(zip(*padded, strict=True), types, strict=True)]


def check_agreement(types, rows, lake, bucket_count, *, follow_pyfluss) -> None:
    """Keys byte for byte and buckets one for one."""
    encoding = bucket_key_encoding(lake)
    columns = columns_of(types, rows)
    keys = [encode_key(encoding, types, row) for row in rows]
    data, bounds = encode_keys(columns, types, encoding)
    assert [data[a:b].tobytes() for a, b in itertools.pairwise(bounds)] == keys
    if all(keys):
        found = assign_buckets(columns, types, bucket_count, lake, follow_pyfluss=follow_pyfluss)
        expected = [bucket_of(k, bucket_count, lake, follow_pyfluss=follow_pyfluss) for k in keys]
        assert found.tolist() == expected
        assert found.dtype == np.int32


@unhurried
@given(keyed_rows(), st.integers(2, 4096), st.booleans())
def test_compacted_keys_agree_with_the_reference(keyed, bucket_count, follow_pyfluss) -> None:
    """Keys of tables without a lake."""
    check_agreement(*keyed, None, bucket_count, follow_pyfluss=follow_pyfluss)


@unhurried
@given(keyed_rows(nullable=True), st.integers(2, 4096), st.booleans())
def test_paimon_keys_agree_with_the_reference(keyed, bucket_count, follow_pyfluss) -> None:
    """Keys of Paimon, NULLs included."""
    check_agreement(*keyed, "paimon", bucket_count, follow_pyfluss=follow_pyfluss)


@unhurried
@given(keyed_rows(1, of=scalar_types.filter(lambda t: t.root not in NOT_ICEBERG)), st.integers(2, 4096))
def test_iceberg_keys_agree_with_the_reference(keyed, bucket_count) -> None:
    """Keys of Iceberg, one column."""
    types, rows = keyed
    rows = [r for r in rows if not _overflows_micros(types[0], r[0])]
    if rows:
        check_agreement(types, rows, "iceberg", bucket_count, follow_pyfluss=False)


def _overflows_micros(type_, value) -> bool:
    return type_.root is TypeRoot.TIMESTAMP and abs(value.epoch_ms) > 2**53


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS["single_column_keys_and_buckets"] if v["encoder"] in LAKE_OF], ids=label
)
def test_vectors(vector: dict) -> None:
    """The vectors of the official client and of Java hold for the kernels too."""
    types, lake = types_of(vector), LAKE_OF[vector["encoder"]]
    columns = [array_of([v], t) for v, t in zip(values_of(vector), types, strict=True)]
    for expected in vector["buckets"]:
        count = expected["num_buckets"]
        assert assign_buckets(columns, types, count, lake).tolist() == [expected["bucket_java"]]
        if "client_observed" in expected:
            seen = assign_buckets(columns, types, count, lake, follow_pyfluss=True).tolist()
            assert seen == [expected["client_observed"]]


def test_many_columns_of_nulls_for_paimon() -> None:
    """More than 56 key columns need a second word of null bits."""
    types = [INT()] * 60
    check_agreement(types, [tuple(range(60)), (None,) * 60], "paimon", 7, follow_pyfluss=False)


def test_chunks_are_taken_together() -> None:
    """Columns may come in chunks cut at different places."""
    whole = pa.array(range(100), pa.int32())
    names = pa.array([f"n{i}" for i in range(100)])
    chunked = pa.chunked_array([whole.slice(0, 30), whole.slice(30)])
    other = pa.chunked_array([names.slice(0, 77), names.slice(77, 0), names.slice(77)])
    types = [INT(), STRING()]
    expected = assign_buckets([whole, names], types, 16, None)
    assert assign_buckets([chunked, other], types, 16, None).tolist() == expected.tolist()


def test_no_rows_have_no_buckets() -> None:
    """An empty column is fine."""
    assert assign_buckets([pa.array([], pa.int32())], [INT()], 4, None).tolist() == []


def test_one_bucket_needs_no_hash() -> None:
    """With one bucket the answer is known."""
    assert assign_buckets([pa.array([1, 2])], [INT()], 1, None).tolist() == [0, 0]


def test_other_arrow_types_are_cast_first() -> None:
    """int64 data for an INT column and large strings are taken."""
    cast = assign_buckets([pa.array([300]), pa.array(["x"], pa.large_string())], [INT(), STRING()], 16, None)
    assert (
        cast.tolist()
        == assign_buckets([pa.array([300], pa.int32()), pa.array(["x"])], [INT(), STRING()], 16, None).tolist()
    )


@pytest.mark.parametrize("lake", [None, "paimon", "iceberg"])
def test_every_nan_is_one_key(lake) -> None:
    """NaNs of different bits have one key, for kernels and reference alike."""
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7FC00001], np.uint32).view(np.float32)
    data, bounds = encode_keys([pa.array(bits)], [FLOAT()], bucket_key_encoding(lake))
    keys = {data[a:b].tobytes() for a, b in itertools.pairwise(bounds)}
    assert keys == {encode_key(bucket_key_encoding(lake), [FLOAT()], [v]) for v in (math.nan, -math.nan)}
    assert len(keys) == 1


@settings(unhurried, max_examples=20)
@given(
    keyed_rows(
        2,
        of=scalar_types.filter(
            lambda t: t.root not in {TypeRoot.BINARY, TypeRoot.BYTES, TypeRoot.STRING, TypeRoot.CHAR}
        ),
    )
)
def test_hudi_goes_one_by_one(keyed) -> None:
    """Hudi has no kernel and still has buckets."""
    types, rows = keyed
    found = assign_buckets(columns_of(types, rows), types, 16, "hudi")
    assert found.tolist() == [bucket_of(encode_key(KeyEncoding.HUDI, types, r), 16, "hudi") for r in rows]


def test_nested_keys_go_one_by_one() -> None:
    """A nested key column falls back to the reference."""
    types = (ARRAY(INT()),)
    found = assign_buckets([array_of([(1, 2), ()], types[0])], types, 16, None)
    assert found.tolist() == [bucket_of(encode_key(KeyEncoding.COMPACTED, types, [v]), 16, None) for v in [(1, 2), ()]]


@pytest.mark.parametrize(
    ("columns", "types", "lake", "why"),
    [
        ([pa.array([1, None], pa.int32())], [INT()], None, "has 1 NULL"),
        ([pa.array([True])], [BOOLEAN()], "iceberg", "cannot be a key for Iceberg"),
        ([pa.array([""])], [STRING()], "iceberg", "must not be empty"),
    ],
)
def test_keys_that_cannot_be(columns, types, lake, why) -> None:
    """Refusals are those of the reference."""
    with pytest.raises(InvalidError, match=why):
        assign_buckets(columns, types, 3, lake)
