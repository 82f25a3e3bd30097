"""Key columns to key bytes, and which encoding is used when."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from key_bytes import encode_key
from row_strategies import rows, scalar_types, unhurried
from row_vectors import VECTORS, label, types_of, values_of

from lakeward.errors import InvalidError
from lakeward.model.data_types import (
    ARRAY,
    BINARY,
    BOOLEAN,
    DATE,
    DECIMAL,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
)
from lakeward.model.type_text import parse_type
from lakeward.model.values import Timestamp
from lakeward.records.key.bucketing import bucket_of
from lakeward.records.key.key_encoding import KeyEncoding, bucket_key_encoding, primary_key_encoding
from lakeward.records.row import compacted_row

LAKE_OF = {"compacted": None, "paimon": "paimon", "iceberg": "iceberg"}


@pytest.mark.parametrize("vector", VECTORS["single_column_keys_and_buckets"], ids=label)
def test_single_column_keys_and_their_buckets(vector: dict) -> None:
    """Key bytes and buckets are those of the Java classes and of the official client."""
    encoding = KeyEncoding(vector["encoder"])
    key = encode_key(encoding, types_of(vector), values_of(vector))
    assert key.hex() == vector["key_hex"]
    for expected in vector["buckets"]:
        count, lake = expected["num_buckets"], LAKE_OF[vector["encoder"]]
        assert bucket_of(key, count, lake) == expected["bucket_java"]
        for observed in ("bucket_pyfluss", "client_observed"):
            if observed in expected:
                assert bucket_of(key, count, lake, follow_pyfluss=True) == expected[observed]


@pytest.mark.parametrize("vector", [v for v in VECTORS["composite_keys"] if "encoder" in v], ids=label)
def test_composite_keys(vector: dict) -> None:
    """Several key columns are encoded in order."""
    key = encode_key(KeyEncoding(vector["encoder"]), types_of(vector), values_of(vector))
    assert key.hex() == vector["key_hex"]
    assert bucket_of(key, 8, LAKE_OF[vector["encoder"]]) == vector["bucket_java_of_8"]


@pytest.mark.parametrize(
    "vector",
    [v for v in VECTORS["composite_keys"] if "kv_key_hex" in v],
    ids=lambda v: f"{v['lake']}-v{v['kv_format_version'][-2:]}-{'-'.join(v['primary_key'])}",
)
def test_stored_keys_of_primary_key_tables(vector: dict) -> None:
    """The stored key, the row and the bucket of a whole table row are what the official client sent."""
    columns = {name: parse_type(t) for name, t in vector["columns"]}
    version = int(vector["kv_format_version"]) if vector["kv_format_version"].isdigit() else None
    default = vector["bucket_key"] == vector["primary_key"]
    row = vector["row"]

    def key_of(encoding: KeyEncoding, names: list[str]) -> bytes:
        return encode_key(encoding, [columns[n] for n in names], [row[n] for n in names])

    stored = key_of(
        primary_key_encoding(vector["lake"], version, has_default_bucket_key=default), vector["primary_key"]
    )
    assert stored.hex() == vector["kv_key_hex"]
    bucket_key = key_of(bucket_key_encoding(vector["lake"]), vector["bucket_key"])
    assert bucket_of(bucket_key, vector["num_buckets"], vector["lake"], follow_pyfluss=True) == vector["bucket"]
    whole = compacted_row.encode_row(list(columns.values()), list(row.values()))
    assert whole.hex() == vector["kv_value_row_hex"]


@pytest.mark.parametrize("vector", VECTORS["hudi_keys"], ids=label)
def test_hudi_keys(vector: dict) -> None:
    """Hudi's key is the hash of a Java list of texts."""
    key = encode_key(KeyEncoding.HUDI, types_of(vector), values_of(vector))
    assert key.hex() == vector["key_hex"]
    assert bucket_of(key, vector["num_buckets"], "hudi") == vector["bucket"]


def test_hudi_texts_are_those_of_java() -> None:
    """Times, decimals and numbers hash as what Java's toString gives."""

    def java_hash(text: str) -> bytes:
        return encode_key(KeyEncoding.HUDI, [STRING()], [text])

    assert encode_key(KeyEncoding.HUDI, [DATE()], [19797]) == java_hash("19797")
    assert encode_key(KeyEncoding.HUDI, [DECIMAL(10, 2)], [Decimal("5.00")]) == java_hash("5.00")
    assert encode_key(KeyEncoding.HUDI, [DOUBLE()], [1e20]) == java_hash("1.0E20")
    assert encode_key(KeyEncoding.HUDI, [TIMESTAMP(6)], [Timestamp(0)]) == java_hash("1970-01-01T00:00")
    assert encode_key(KeyEncoding.HUDI, [TIMESTAMP_LTZ(6)], [Timestamp(0)]) == java_hash("1970-01-01T00:00:00Z")
    assert encode_key(KeyEncoding.HUDI, [STRING()], [None]) == java_hash("__null__")


@pytest.mark.parametrize(
    ("lake", "version", "default", "bucket", "primary"),
    [
        (None, None, True, "compacted", "compacted"),
        (None, 2, False, "compacted", "compacted"),
        ("lance", 2, False, "compacted", "compacted"),
        ("paimon", None, False, "paimon", "paimon"),
        ("paimon", 1, False, "paimon", "paimon"),
        ("PAIMON", 2, True, "paimon", "paimon"),
        ("paimon", 2, False, "paimon", "compacted"),
        ("iceberg", 2, False, "iceberg", "compacted"),
        ("iceberg", None, True, "iceberg", "iceberg"),
        ("hudi", 1, True, "hudi", "compacted"),
    ],
)
def test_which_encoding_is_used_when(lake, version, default, bucket, primary) -> None:
    """Lake format, key format version and bucket key choose the encodings."""
    assert bucket_key_encoding(lake) == bucket
    assert primary_key_encoding(lake, version, has_default_bucket_key=default) == primary


@pytest.mark.parametrize(
    ("encoding", "types", "values", "why"),
    [
        ("compacted", [INT()], [None], "must not be NULL"),
        ("compacted", [INT()], [2**40], "32 bits"),
        ("iceberg", [INT(), INT()], [1, 2], "exactly one column"),
        ("iceberg", [BOOLEAN()], [True], "BOOLEAN cannot be a key for Iceberg"),
        ("iceberg", [TINYINT()], [1], "cannot be a key"),
        ("iceberg", [TIMESTAMP_LTZ(3)], [Timestamp(0)], "cannot be a key"),
        ("iceberg", [STRING()], [None], "must not be NULL"),
        ("paimon", [ARRAY(INT())], [(1,)], "cannot be a key for Paimon"),
        ("hudi", [BINARY(2)], [b"ab"], "cannot be a key for Hudi"),
        ("hudi", [STRING(), INT()], ["a,b", 1], "takes no ','"),
        ("hudi", [STRING(), INT()], ["__null__", 1], "placeholders"),
        ("compacted", [], [], "at least one column"),
    ],
)
def test_keys_that_cannot_be(encoding, types, values, why) -> None:
    """What a lake cannot take as a key is refused with the reason."""
    with pytest.raises(InvalidError, match=why):
        encode_key(KeyEncoding(encoding), types, values)


@unhurried
@given(rows(scalar_types, max_size=4))
def test_a_compacted_key_is_the_row_without_null_bits(row) -> None:
    """Prefix lookups rely on key bytes being the row's own field bytes."""
    columns, values = row
    if None not in values:
        whole = compacted_row.encode_row(columns, values)
        assert encode_key(KeyEncoding.COMPACTED, columns, values) == whole[(len(columns) + 7) // 8 :]
