"""Key bytes to buckets."""

from __future__ import annotations

import pytest
from row_vectors import VECTORS

from lakeward.errors import InvalidError
from lakeward.records.key import bucketing


@pytest.mark.parametrize("vector", VECTORS["bucketing_raw_bytes"], ids=lambda v: v["key_hex"][:16])
def test_hashes_and_buckets_of_the_vectors(vector: dict) -> None:
    """Every hash and every lake's bucket is that of the Java classes, and of pyfluss where asked."""
    key, count = bytes.fromhex(vector["key_hex"]), vector["num_buckets"]
    assert bucketing.hash42(key) == vector["murmur42_signed_tail"]
    assert bucketing.hash42(key, follow_pyfluss=True) == vector["murmur42_unsigned_tail"]
    assert bucketing.murmur3(key) == vector["murmur3_x86_32_seed0"]
    assert bucketing.bucket_of(key, count, None) == vector["fluss_java"]
    assert bucketing.bucket_of(key, count, "lance", follow_pyfluss=True) == vector["fluss_pyfluss"]
    assert bucketing.bucket_of(key, count, "paimon") == vector["paimon_java"]
    assert bucketing.bucket_of(key, count, "PAIMON", follow_pyfluss=True) == vector["paimon_pyfluss"]
    assert bucketing.bucket_of(key, count, "iceberg") == vector["iceberg"]


@pytest.mark.parametrize("vector", VECTORS["log_table_bucket_key"], ids=lambda v: f"{v['lake']}-{v['value']}")
def test_log_tables_use_the_same_buckets(vector: dict) -> None:
    """A log table's bucket key goes where the official client sends it."""
    key = bytes.fromhex(vector["key_hex"])
    assert bucketing.bucket_of(key, vector["num_buckets"], vector["lake"]) == vector["bucket_java_rule"]
    observed = bucketing.bucket_of(key, vector["num_buckets"], vector["lake"], follow_pyfluss=True)
    assert observed == vector["bucket_client"]


def test_an_empty_key_is_refused() -> None:
    """No bytes have no bucket."""
    with pytest.raises(InvalidError, match="must not be empty"):
        bucketing.bucket_of(b"", 3, None)


def test_an_unknown_lake_is_refused() -> None:
    """A format we have no function for is not guessed."""
    with pytest.raises(InvalidError, match="delta"):
        bucketing.bucket_of(b"x", 3, "delta")
