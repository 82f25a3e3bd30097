"""Many rows ↔ columns: they agree with the codecs of one row and with pyarrow, whatever the types."""

from __future__ import annotations

import contextlib
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_batches import FORMS, brisk, encoded, guarded, schema_of, tables
from row_strategies import rows, scalar_types, unhurried
from row_vectors import VECTORS, label, types_of, values_of

from lakeward.errors import CorruptError, InvalidError, LakewardError
from lakeward.model.data_types import BIGINT, BINARY, CHAR, DECIMAL, DOUBLE, FLOAT, INT, STRING, TIMESTAMP, TypeRoot
from lakeward.model.values import Timestamp
from lakeward.records.arrow.arrow_row_kernels import arrow_of_columns
from lakeward.records.arrow.arrow_rows import rows_to_arrow
from lakeward.records.columnar.row_kernels import RowForm, decode_rows, encode_rows
from lakeward.records.kernels import row_decode_kernels, row_encode_kernels
from lakeward.records.kernels.spans import Spans

every_form = pytest.mark.parametrize("form", FORMS)
VECTORS_OF_ROWS = [v for v in VECTORS["rows"] if v["format"].upper() in {"COMPACTED", "INDEXED"}]


@pytest.mark.parametrize("vector", VECTORS_OF_ROWS, ids=label)
def test_rows_of_the_vectors_come_back(vector: dict) -> None:
    """Rows that the official client and the Java classes wrote become columns and the same rows again."""
    types, form, row = types_of(vector), RowForm(vector["format"].upper()), bytes.fromhex(vector["hex"])
    columns = decode_rows(Spans.of([row, row]), types, form)
    data, bounds = encode_rows(columns, types, form)
    assert data.tobytes() == row + row
    assert bounds.tolist() == [0, len(row), 2 * len(row)]
    expected = rows_to_arrow([row, row], schema_of(types), FORMS[form](types))
    assert arrow_of_columns(columns, schema_of(types)).equals(expected)
    assert values_of(vector) == FORMS[form](types).decode(row)


@every_form
@brisk
@given(table=tables())
def test_columns_are_those_that_arrow_makes(form: RowForm, table) -> None:
    """Rows decoded together are the rows decoded one by one, NULLs and nested columns included."""
    types, lines = table
    raw = encoded(form, types, lines)
    batch = arrow_of_columns(decode_rows(Spans.of(raw), types, form), schema_of(types))
    batch.validate(full=True)
    assert batch.equals(rows_to_arrow(raw, schema_of(types), FORMS[form](types)))


@every_form
@brisk
@given(table=tables())
def test_rows_are_those_of_the_row_codec(form: RowForm, table) -> None:
    """Columns encoded together give the bytes of rows encoded one by one, in either format."""
    types, lines = table
    columns = decode_rows(Spans.of(encoded(RowForm.COMPACTED, types, lines)), types)
    data, bounds = encode_rows(columns, types, form)
    raw = encoded(form, types, lines)
    assert data.tobytes() == b"".join(raw)
    assert np.diff(bounds).tolist() == [len(r) for r in raw]


@every_form
@brisk
@given(table=tables(), data=st.data())
def test_columns_added_later_are_null(form: RowForm, table, data) -> None:
    """A row that was written with fewer columns has NULL in those behind them, whatever its neighbours have."""
    types, lines = table
    counts = [data.draw(st.integers(0, len(types))) for _ in lines]
    raw = [FORMS[form](types[:n]).encode(row[:n]) for n, row in zip(counts, lines, strict=True)]
    columns = decode_rows(Spans.of(raw), types, form, np.array(counts, np.int64))
    widened = [row[:n] + (None,) * (len(types) - n) for n, row in zip(counts, lines, strict=True)]
    assert encode_rows(columns, types, form)[0].tobytes() == b"".join(encoded(form, types, widened))


@pytest.mark.parametrize("count", [-1, 3, 2**40])
def test_a_row_has_no_more_columns_than_the_table(count: int) -> None:
    """A number of columns that cannot be is refused, not believed."""
    raw = encoded(RowForm.COMPACTED, [INT(), INT()], [(1, 2)])
    with pytest.raises(CorruptError, match="row 0"):
        decode_rows(Spans.of(raw), [INT(), INT()], column_counts=np.array([count], np.int64))


@every_form
@unhurried
@given(row=rows(scalar_types, max_size=12), data=st.data())
def test_damaged_rows_are_judged_as_by_the_row_codec(form: RowForm, row, data) -> None:
    """Flipped and cut rows are refused exactly when the row codec refuses them; no byte outside is read."""
    types, values = row
    damaged = bytearray(FORMS[form](types).encode(values))
    for _ in range(data.draw(st.integers(0, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    raw = bytes(damaged[: len(damaged) - data.draw(st.integers(0, 1) | st.integers(0, len(damaged)))])
    try:
        good = FORMS[form](types).decode(raw)
    except CorruptError:
        good = None
    with guarded(raw) as memory:
        try:
            columns = decode_rows(Spans([memory], np.array([0]), np.array([len(raw)])), types, form)
        except CorruptError:
            assert good is None, raw.hex()
        except InvalidError:
            pass  # a value that Arrow cannot hold; damage behind it is not looked at
        else:
            assert good is not None, raw.hex()
            batch = arrow_of_columns(columns, schema_of(types))
            # Rows may hold times past midnight, and sums with more digits than their column.
            batch.validate(full=not any(t.root in {TypeRoot.TIME, TypeRoot.DECIMAL} for t in types))


@every_form
@unhurried
@given(table=tables(rows_max=0), garbage=st.lists(st.binary(max_size=60), min_size=1, max_size=4))
def test_garbage_is_rows_or_corrupt(form: RowForm, table, garbage: list[bytes]) -> None:
    """Random bytes are some rows or a typed error, nested columns included."""
    types, _ = table
    ends = np.cumsum([len(g) for g in garbage])
    with guarded(b"".join(garbage)) as memory, contextlib.suppress(LakewardError):
        decode_rows(Spans([memory], ends - np.array([len(g) for g in garbage]), ends), types, form)


@pytest.mark.parametrize(
    ("types", "row", "why"),
    [
        ([INT(), STRING()], "0001ff78", "row 1, column 1 of type STRING: its bytes are not such a value"),
        ([INT(), STRING()], "000102c328", "row 1, column 1 of type STRING: its text is not UTF-8"),
        ([INT(), STRING()], "0001017800", "row 1: bytes follow its last column"),
        ([INT(), STRING()], "", "row 1: its bytes are not such a value"),
    ],
)
def test_a_refusal_names_row_and_column(types, row: str, why: str) -> None:
    """Who reads the error finds the value."""
    good = encoded(RowForm.COMPACTED, types, [(7, "fine")])
    with pytest.raises(CorruptError, match=why):
        decode_rows(Spans.of([*good, bytes.fromhex(row)]), types)


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (TIMESTAMP(9), Timestamp(2**60)),
        (TIMESTAMP(9), Timestamp(-(2**60))),
        (TIMESTAMP(6), Timestamp(2**62)),
        (TIMESTAMP(9), Timestamp(9_223_372_036_854, 775_808)),
        (TIMESTAMP(9), Timestamp(-9_223_372_036_855, 224_191)),
        (BINARY(2), b"abc"),
    ],
)
def test_values_that_arrow_cannot_hold_are_the_writers_mistake(type_, value) -> None:
    """Such a row is well-formed but cannot be logged; the refusal says so instead of wrapping around."""
    raw = encoded(RowForm.COMPACTED, [type_], [(value,)])
    with pytest.raises(InvalidError, match="does not fit its column in Arrow: row 0, column 0"):
        decode_rows(Spans.of(raw), [type_])


@pytest.mark.parametrize("value", [Timestamp(9_223_372_036_854, 775_807), Timestamp(-9_223_372_036_855, 224_192)])
def test_the_first_and_the_last_nanosecond_fit(value: Timestamp) -> None:
    """All 64 bits of a timestamp are used."""
    raw = encoded(RowForm.COMPACTED, [TIMESTAMP(9)], [(value,)])
    columns = decode_rows(Spans.of(raw), [TIMESTAMP(9)])
    assert encode_rows(columns, [TIMESTAMP(9)])[0].tobytes() == raw[0]


@pytest.mark.parametrize("precision", [19, 20, 38])
def test_long_decimals_keep_to_their_digits(precision: int) -> None:
    """The largest number of a column's digits is read, the next one is refused, on both sides of zero."""
    most = 10**precision - 1
    raw = encoded(RowForm.COMPACTED, [DECIMAL(38, 0)], [(most,), (-most,)])
    columns = decode_rows(Spans.of(raw), [DECIMAL(precision, 0)])
    assert encode_rows(columns, [DECIMAL(precision, 0)])[0].tobytes() == b"".join(raw)
    if precision < 38:
        for over in (most + 1, -most - 1):
            with pytest.raises(CorruptError):
                decode_rows(Spans.of(encoded(RowForm.COMPACTED, [DECIMAL(38, 0)], [(over,)])), [DECIMAL(precision, 0)])


@pytest.mark.parametrize("form", [RowForm.COMPACTED, RowForm.INDEXED])
@pytest.mark.parametrize("precision", [1, 4, 18])
def test_short_decimals_hold_any_64_bits(precision: int, form: RowForm) -> None:
    """A sum may have more digits than its column, and comes back as it is."""
    cells = [(10**precision,), (-(10**precision),), (2**63 - 1,), (-(2**63),)]
    raw = encoded(form, [DECIMAL(precision, 0)], cells)
    assert raw == encoded(form, [BIGINT()], cells)
    columns = decode_rows(Spans.of(raw), [DECIMAL(precision, 0)], form)
    assert encode_rows(columns, [DECIMAL(precision, 0)], form)[0].tobytes() == b"".join(raw)


def test_nan_has_one_form_in_compacted_rows() -> None:
    """Rows that differ only in the bits of a NaN are the same row."""
    odd = b"\0" + struct.pack("<I", 0x7F800001) + struct.pack("<Q", 0xFFF0000000000001)
    columns = decode_rows(Spans.of([odd]), [FLOAT(), DOUBLE()])
    same = encoded(RowForm.COMPACTED, [FLOAT(), DOUBLE()], [(float("nan"), float("nan"))])
    assert encode_rows(columns, [FLOAT(), DOUBLE()])[0].tobytes() == same[0]


def test_text_longer_than_an_indexed_char_is_refused() -> None:
    """An indexed CHAR(n) has room for n bytes."""
    columns = decode_rows(Spans.of(encoded(RowForm.COMPACTED, [CHAR(3)], [("four",)])), [CHAR(3)])
    with pytest.raises(InvalidError, match="row 0, column 0 of type CHAR"):
        encode_rows(columns, [CHAR(3)], RowForm.INDEXED)


def test_each_kernel_is_compiled_once() -> None:
    """Whatever hands rows in, the same machine code serves it: a second version would cost seconds at run time."""
    raw = encoded(RowForm.COMPACTED, [INT(), STRING()], [(1, "x"), (2, None)])
    for spans in (Spans.of(raw), Spans.of(raw).take(slice(0, 1)), Spans.of(raw).take(np.array([1, 0]))):
        encode_rows(decode_rows(spans, [INT(), STRING()]), [INT(), STRING()])
    for kernel in (row_decode_kernels.decode, row_decode_kernels.gather_runs):
        assert len(kernel.signatures) == 1
    assert {str(s[0].dtype) for s in row_encode_kernels.encode.signatures} == {"uint8"}


def test_no_rows_are_columns_too() -> None:
    """An empty batch has columns of length 0."""
    columns = decode_rows(Spans.of([]), [INT(), STRING()])
    batch = arrow_of_columns(columns, schema_of([INT(), STRING()]))
    assert batch.num_rows == 0
    assert batch.schema.types == [pa.int32(), pa.string()]
    assert encode_rows(columns, [INT(), STRING()])[1].tolist() == [0]
