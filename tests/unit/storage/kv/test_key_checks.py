"""Keys of a put against its rows and its bucket: what clients send passes, anything else is refused."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import pytest
from key_bytes import encode_key

from lakeward.errors import LakewardError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.model.schema import Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.values import Timestamp
from lakeward.records.batch.kv_batch import KvBatch, build_kv_batch, parse_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.row import compacted_row, indexed_row
from lakeward.storage.kv.key_checks import check_keys
from lakeward.storage.kv.kv_table import KvTable

#: Key types with values that are long, short, negative and empty.
VALUES: list[tuple[DataType, list[Any]]] = [
    (t.BOOLEAN(), [True, False]),
    (t.TINYINT(), [0, -1, 127]),
    (t.SMALLINT(), [0, -300, 32767]),
    (t.INT(), [0, -1, 127, 128, 300, 2**31 - 1, -(2**31)]),
    (t.BIGINT(), [0, -1, 128, 2**40, 2**63 - 1, -(2**63)]),
    (t.FLOAT(), [0.0, 1.5, -2.25]),
    (t.DOUBLE(), [0.0, 1.5, -2.25]),
    (t.STRING(), ["a", "seven77", "eight888", "größer " * 30]),
    (t.CHAR(9), ["ab", "ninechars"]),
    (t.BYTES(), [b"\0", b"\xff" * 40]),
    (t.BINARY(4), [b"abcd"]),
    (t.DECIMAL(10, 2), [Decimal("0.00"), Decimal("-1.28"), Decimal("99999999.99"), Decimal("1.27")]),
    (t.DECIMAL(30, 4), [Decimal("0.0001"), Decimal("-1234567890123456789.0123")]),
    (t.DATE(), [0, -1, 19000]),
    (t.TIME(3), [0, 86_399_999]),
    (t.TIMESTAMP(3), [Timestamp(0, 0), Timestamp(-1, 0), Timestamp(1_700_000_000_123, 0)]),
    (t.TIMESTAMP(6), [Timestamp(0, 0), Timestamp(1_700_000_000_123, 456_000)]),
]
ICEBERG_KEYS = [(type_, values) for type_, values in VALUES if str(type_) not in {"BOOLEAN", "TINYINT", "SMALLINT"}]
BUCKETS = 7


def kv_table(key_types: list[DataType], lake: str | None = None, **properties: str) -> KvTable:
    """A table (v INT, k0, k1, …, d DECIMAL(5, 2)) with the key columns in the middle, and in reverse order."""
    keys = [(f"k{i}", type_.not_null()) for i, type_ in enumerate(key_types)]
    schema = Schema.of(
        [("v", t.INT()), *keys, ("d", t.DECIMAL(5, 2))], primary_key=[name for name, _ in reversed(keys)]
    )
    if lake is not None:
        properties |= {"table.datalake.format": lake}
    descriptor = TableDescriptor(schema, bucket_count=BUCKETS, properties=properties).normalize()
    return KvTable.of(TableInfo(TablePath("db", "t"), 1, 1, descriptor, 0, 0), lambda _: schema)


def row_bytes(table: KvTable, row: tuple[Any, ...]) -> bytes:
    """A row in the table's format."""
    codec = indexed_row.codec if table.kv_format == "INDEXED" else compacted_row.codec
    return bytes(codec(table.types).encode(row))


def key_bytes(table: KvTable, row: tuple[Any, ...]) -> bytes:
    """The key of a row, by the reference."""
    types = [table.types[p] for p in table.key_positions]
    return encode_key(table.key_encoding, types, [row[p] for p in table.key_positions])


def one(key: bytes, row: bytes | None) -> KvBatch:
    """A batch of one record."""
    return parse_kv_batch(build_kv_batch(1, Spans.of([key]), None if row is None else Spans.of([row])))


def home(table: KvTable, key: bytes, lake: str | None, *, follow_pyfluss: bool = False) -> int:
    """The bucket of a key, by the reference."""
    return bucket_of(key, table.info.bucket_count, lake, follow_pyfluss=follow_pyfluss)


def is_refused(table: KvTable, batch: KvBatch, bucket: int) -> bool:
    """Whether a batch is refused."""
    try:
        check_keys(table, batch, bucket)
    except LakewardError:
        return True
    return False


@pytest.mark.parametrize("lake", [None, "iceberg", "paimon", "hudi"])
@pytest.mark.parametrize("kv_format", ["COMPACTED", "INDEXED"])
def test_what_clients_send_passes_in_its_bucket_and_in_no_other(lake: str | None, kv_format: str) -> None:
    """For every type of key, alone and with another, by Java's buckets and by those of pyfluss."""
    chance = random.Random(7)
    for type_, values in ICEBERG_KEYS if lake == "iceberg" else VALUES:
        single = kv_table([type_], lake, **{"table.kv.format": kv_format})
        double = kv_table([type_, t.STRING()], lake, **{"table.kv.format": kv_format})
        for value in values:
            rows = [(single, (5, value, None))]
            if lake != "iceberg":
                rows.append((double, (None, value, chance.choice(["x", "a long text"]), Decimal("1.00"))))
            for table, row in rows:
                key = key_bytes(table, row)
                for batch in (one(key, row_bytes(table, row)), one(key, None)):
                    if lake == "hudi" or kv_format == "INDEXED":
                        check_keys(table, batch, 0)
                        continue
                    homes = {home(table, key, lake), home(table, key, lake, follow_pyfluss=True)}
                    assert {b for b in range(BUCKETS) if not is_refused(table, batch, b)} == homes, (type_, value)


@pytest.mark.parametrize("lake", [None, "iceberg", "paimon"])
def test_a_key_of_another_row_is_refused(lake: str | None) -> None:
    """Any value's key with any other value's row."""
    for type_, values in ICEBERG_KEYS if lake == "iceberg" else VALUES:
        table = kv_table([type_], lake)
        rows = [(5, value, None) for value in values]
        for mine in rows:
            for other in rows:
                key = key_bytes(table, other)
                batch = one(key, row_bytes(table, mine))
                assert is_refused(table, batch, home(table, key, lake)) == (mine != other), (type_, mine, other)


@pytest.mark.parametrize("lake", [None, "iceberg", "paimon"])
def test_any_other_bytes_of_a_key_are_refused(lake: str | None) -> None:
    """Every byte of a key matters, and so does its length."""
    for type_, values in ICEBERG_KEYS if lake == "iceberg" else VALUES:
        table = kv_table([type_], lake)
        for value in values:
            row = (5, value, None)
            key, encoded = key_bytes(table, row), row_bytes(table, row)
            spoilt = [key[:-1], key + b"\0", key + bytes(8), b""]
            spoilt += [key[:i] + bytes([key[i] ^ 0x80]) + key[i + 1 :] for i in range(len(key))]
            spoilt += [key[:i] + bytes([key[i] ^ 1]) + key[i + 1 :] for i in range(len(key))]
            for bad in spoilt:
                assert all(is_refused(table, one(bad, encoded), b) for b in range(BUCKETS)), (type_, value, bad)


def test_a_number_written_longer_than_it_is_makes_no_second_key() -> None:
    """2 as `82 00` in key and row alike would be a second row with id 2."""
    table = kv_table([t.INT()])
    row = row_bytes(table, (5, 2, None))
    longer = row.replace(b"\x02", b"\x82\x00")
    assert row != longer
    assert all(is_refused(table, one(b"\x82\x00", longer), b) for b in range(BUCKETS))
    assert all(is_refused(table, one(b"\x82\x00", None), b) for b in range(BUCKETS))


def test_a_bucket_key_of_its_own() -> None:
    """The bucket follows the columns of the bucket key, not the whole key."""
    schema = Schema.of(
        [("a", t.INT().not_null()), ("b", t.STRING().not_null()), ("c", t.INT())], primary_key=["a", "b"]
    )
    descriptor = TableDescriptor(schema, bucket_count=BUCKETS, bucket_keys=("b",)).normalize()
    table = KvTable.of(TableInfo(TablePath("db", "t"), 1, 1, descriptor, 0, 0), lambda _: schema)
    row = (300, "größer", None)
    batch = one(key_bytes(table, row), row_bytes(table, row))
    bucket_key = encode_key(table.key_encoding, [t.STRING()], ["größer"])
    homes = {home(table, bucket_key, None), home(table, bucket_key, None, follow_pyfluss=True)}
    assert {b for b in range(BUCKETS) if not is_refused(table, batch, b)} == homes


@pytest.mark.parametrize("unscaled", [10**5, -(10**5), 10**17])
def test_a_decimal_of_too_many_digits_is_refused(unscaled: int) -> None:
    """DECIMAL(5, 2) has five digits, though its bytes could hold eighteen."""
    table = kv_table([t.INT()])
    wide = compacted_row.codec((*table.types[:-1], t.DECIMAL(18, 2)))
    row = bytes(wide.encode((5, 1, Decimal(unscaled).scaleb(-2))))
    key = key_bytes(table, (5, 1, None))
    assert is_refused(table, one(key, row), home(table, key, None))
