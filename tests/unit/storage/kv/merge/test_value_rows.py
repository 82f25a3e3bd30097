"""Stored values as plain cells: carried without loss, whatever the type and the schema."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from merge_tables import INT, STRING, PkTable, column

from lakeward.errors import CorruptError, InvalidError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.model.values import Timestamp
from lakeward.storage.kv.merge.null_rules import null_error, required_columns
from lakeward.storage.kv.merge.value_rows import ValueRows

FORMATS = ["COMPACTED", "INDEXED"]
SAMPLES: list[tuple[DataType, list[Any]]] = [
    (t.BOOLEAN(), [True, False]),
    (t.TINYINT(), [-128, 127]),
    (t.SMALLINT(), [-32768, 300]),
    (t.INT(), [-1, 2**31 - 1]),
    (t.BIGINT(), [-(2**63), 300]),
    (t.FLOAT(), [-0.0, 1.5]),
    (t.DOUBLE(), [float("inf"), -2.25]),
    (t.CHAR(5), ["", "abcde", "ü"]),
    (t.STRING(), ["", "naïve"]),
    (t.BINARY(3), [b"abc", b"a\0\0"]),
    (t.BYTES(), [b"", b"\0\xff"]),
    (t.DECIMAL(4, 2), [Decimal("99.99"), Decimal("-0.01")]),
    (t.DECIMAL(30, 4), [Decimal("-1234567890123456789.0123"), Decimal("0.0000")]),
    (t.DATE(), [-1, 19_000]),
    (t.TIME(3), [0, 86_399_999]),
    (t.TIMESTAMP(3), [Timestamp(-1), Timestamp(1_700_000_000_000)]),
    (t.TIMESTAMP(9), [Timestamp(-1, 999_999), Timestamp(5)]),
    (t.TIMESTAMP_LTZ(0), [Timestamp(1000)]),
    (t.TIMESTAMP_LTZ(6), [Timestamp(1000, 1000)]),
    (t.ARRAY(t.STRING()), [(), ("a", None, "longer than eight")]),
    (t.MAP(t.STRING(), t.INT()), [(("a", 1), ("b", None))]),
    (t.ROW([("x", t.INT()), ("y", t.STRING())]), [(1, None), (None, "z")]),
]
cells = st.lists(
    st.sampled_from(SAMPLES).flatmap(lambda s: st.tuples(st.just(s[0]), st.none() | st.sampled_from(s[1]))), max_size=12
)


def rows_of(table: PkTable) -> ValueRows:
    """The rows of a table."""
    return ValueRows(table.info, table.schema_of)


@pytest.mark.parametrize("kv_format", FORMATS)
@pytest.mark.parametrize(("type_", "samples"), SAMPLES, ids=[str(type_) for type_, _ in SAMPLES])
def test_every_type_is_carried_without_loss(type_: DataType, samples: list[Any], kv_format: str) -> None:
    """Read and written again, a value has the same bytes."""
    table = PkTable([("k", INT), ("v", type_)], properties={"table.kv.format": kv_format})
    for sample in [None, *samples]:
        value = table.value(1, sample)
        assert rows_of(table).write(rows_of(table).read(value)) == value


@pytest.mark.parametrize("kv_format", FORMATS)
@given(chosen=cells)
def test_rows_of_any_columns_are_carried_without_loss(kv_format: str, chosen: list[tuple[DataType, Any]]) -> None:
    """Types stand next to each other as they may."""
    columns = [("k", INT), *((f"c{i}", type_) for i, (type_, _) in enumerate(chosen))]
    table = PkTable(columns, properties={"table.kv.format": kv_format})
    value = table.value(1, *(cell for _, cell in chosen))
    assert rows_of(table).write(rows_of(table).read_new(value)) == value


def test_columns_meet_by_their_id() -> None:
    """A row of an earlier schema is read by the ids of its columns, not by their places."""
    table = PkTable([("k", INT), ("a", INT)])
    table.add_column(column("b", STRING))
    rows = rows_of(table)
    assert list(rows.read(table.value(1, 2, schema_id=1))) == [1, 2, None]
    assert list(rows.read(table.value(1, 2, "x"))) == [1, 2, b"x"]


def test_a_row_of_a_later_schema_is_cut() -> None:
    """A merger that was made before a column was added leaves that column out."""
    table = PkTable([("k", INT), ("a", INT)])
    before = rows_of(table)
    table.add_column(column("b", STRING))
    assert list(before.read(table.value(1, 2, "x"))) == [1, 2]


def test_damage_of_stored_rows_is_not_the_writers_fault() -> None:
    """What is stored and cannot be read is corrupt; what arrives and cannot be read is invalid."""
    table = PkTable([("k", INT), ("a", STRING)])
    damaged = table.value(1, "abc")[:-1]
    with pytest.raises(CorruptError):
        rows_of(table).read(damaged)
    with pytest.raises(InvalidError):
        rows_of(table).read_new(damaged)


def test_required_columns_are_keys_and_those_not_null() -> None:
    """One bit for each column, lowest first."""
    table = PkTable([("a", INT), ("k", INT), ("n", STRING.not_null()), ("b", INT)], ("k",))
    assert required_columns(table.schemas[1]) == 0b0110
    assert "'n', which is NOT NULL" in str(null_error(table.info.path, table.schemas[1], 0b0100))
    assert "'k', which is part of the primary key" in str(null_error(table.info.path, table.schemas[1], 0b0110))
