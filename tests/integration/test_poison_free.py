"""What clients really send is never taken for poison: every type, every codec, NULLs, slices, no rows at all."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from pyfluss_session import Session, append, scan

from lakeward import connect

ROWS = pa.record_batch(
    {
        "flag": pa.array([True, None, False, True], pa.bool_()),
        "tiny": pa.array([1, None, -128, 127], pa.int8()),
        "small": pa.array([1, None, -(2**15), 2**15 - 1], pa.int16()),
        "int": pa.array([1, None, -(2**31), 2**31 - 1], pa.int32()),
        "big": pa.array([2**62, None, -1, 0], pa.int64()),
        "float": pa.array([1.5, None, float("inf"), -0.0], pa.float32()),
        "double": pa.array([1.5, None, float("-inf"), -0.0], pa.float64()),
        "text": pa.array(["", None, "längere Worte 🙂 " * 9, "x"], pa.string()),
        "bytes": pa.array([b"", None, b"\xff\xfe" * 70, b"\0"], pa.binary()),
        "fixed": pa.array([b"abcd", None, b"\0\0\0\0", b"\xff\xff\xff\xff"], pa.binary(4)),
        "decimal": pa.array([Decimal("1.50"), None, Decimal("-999.99"), Decimal("999.99")], pa.decimal128(5, 2)),
        "long": pa.array([Decimal(10**37), None, Decimal(1 - 10**38), Decimal(10**38 - 1)], pa.decimal128(38, 0)),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1), dt.date(9999, 12, 31)], pa.date32()),
        "second": pa.array([0, None, 86_399, 1], pa.time32("s")),
        "milli": pa.array([0, None, 86_399_999, 1], pa.time32("ms")),
        "micro": pa.array([0, None, 86_399_999_000, 1000], pa.time64("us")),
        "at": pa.array([0, None, 1_700_000_000_000_001, 5], pa.timestamp("us")),
        "instant": pa.array([0, None, 1_700_000_000_000, 5], pa.timestamp("ms", "UTC")),
        "list": pa.array([[1, None], None, [], [3]], pa.list_(pa.int32())),
        "texts": pa.array([["ü", None, ""], None, [], ["x"]], pa.list_(pa.string())),
        "map": pa.array([[("k", 1), ("l", None)], None, [], [("ü", 2)]], pa.map_(pa.string(), pa.int64())),
        "row": pa.array(
            [{"a": 1, "b": ["x", None]}, None, {"a": None, "b": None}, {"a": 2, "b": []}],
            pa.struct([("a", pa.int16()), ("b", pa.list_(pa.string()))]),
        ),
    }
)
MANY = pa.Table.from_batches([ROWS] * 300).combine_chunks().to_batches()[0]
PIECES = [ROWS, ROWS.slice(1, 2), ROWS.slice(3), MANY, MANY.slice(5, 1001), MANY.slice(1198)]
CODECS = ["NONE", "ZSTD", "LZ4_FRAME"]


@pytest.mark.parametrize("codec", CODECS)
async def test_all_that_pyfluss_sends_is_taken(session: Session, codec: str) -> None:
    """Whole batches and slices of them, of every type, and none is refused."""
    table = await session.create("t", ROWS.schema, properties={"table.log.arrow.compression.type": codec})
    await append(table, *PIECES)
    await append(table, ROWS.slice(0, 0))
    found = await scan(table)
    assert found.num_rows == sum(piece.num_rows for piece in PIECES)
    assert found.slice(0, 4).to_pylist() == ROWS.to_pylist()


@pytest.mark.parametrize("codec", CODECS)
async def test_all_that_our_client_sends_is_taken(session: Session, codec: str) -> None:
    """The same from our client, and pyfluss reads it."""
    table = await session.create("t", ROWS.schema, properties={"table.log.arrow.compression.type": codec})
    with connect(session.bootstrap) as conn:
        ours = conn.table(f"{session.database}.t")
        for piece in PIECES:
            ours.append(piece)
        assert ours.scan().to_arrow().num_rows == sum(piece.num_rows for piece in PIECES)
    assert (await scan(table)).slice(0, 4).to_pylist() == ROWS.to_pylist()
