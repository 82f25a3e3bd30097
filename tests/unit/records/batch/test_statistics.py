"""The statistics block of a batch."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import scalar_types, unhurried, values
from row_vectors import VECTORS

from lakeward.errors import CorruptError
from lakeward.model.data_types import INT, STRING
from lakeward.model.type_text import parse_type
from lakeward.records.batch.statistics import ColumnStatistics, encode_statistics, parse_statistics


@pytest.mark.parametrize("vector", VECTORS["statistics_block"])
def test_the_block_of_the_vectors(vector: dict) -> None:
    """The official client writes these bytes for these rows."""
    types = [parse_type(t) for _, t in vector["columns"]]
    told = vector["decoded"]
    columns = tuple(map(ColumnStatistics, told["column_indexes"], told["null_counts"], told["min"], told["max"]))
    assert encode_statistics(columns, types).hex() == vector["hex"]
    assert parse_statistics(bytes.fromhex(vector["hex"]), types) == columns


@st.composite
def blocks(draw):
    """A schema's types and statistics of some of its columns."""
    types = draw(st.lists(scalar_types, min_size=1, max_size=6))
    positions = draw(st.lists(st.integers(0, len(types) - 1), min_size=1, max_size=6, unique=True))
    counts = st.integers(0, 2**31 - 1)
    return types, tuple(
        ColumnStatistics(p, draw(counts), draw(values(types[p])), draw(values(types[p]))) for p in positions
    )


@unhurried
@given(blocks())
def test_blocks_survive_a_round_trip(block) -> None:
    """Any columns in any order are read as they were written."""
    types, columns = block
    assert parse_statistics(encode_statistics(columns, types), types) == columns


@pytest.mark.parametrize("block", [b"", b"\x02\x01\x00", b"\x01\x00\x00", b"\x01\xff\xff"])
def test_no_statistics(block: bytes) -> None:
    """Nothing, a later version or no columns mean there are no statistics."""
    assert parse_statistics(block, [INT()]) is None
    assert encode_statistics((), [INT()]) == b""


def test_a_column_the_schema_lacks_is_damage() -> None:
    """A position outside the schema is refused."""
    block = encode_statistics([ColumnStatistics(1, 0, 1, 2)], [INT(), INT()])
    with pytest.raises(CorruptError, match="damaged"):
        parse_statistics(block, [INT()])


@given(st.binary(max_size=120))
def test_garbage_is_a_corrupt_record_or_nothing(garbage: bytes) -> None:
    """Random bytes never raise anything but CORRUPT_RECORD."""
    with contextlib.suppress(CorruptError):
        parse_statistics(b"\x01" + garbage, [INT(), STRING()])
