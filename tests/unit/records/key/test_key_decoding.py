"""Key bytes back to key columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from key_bytes import encode_key
from row_strategies import rows, scalar_types, unhurried
from row_vectors import VECTORS, label, types_of, values_of

from lakeward.errors import CorruptError, UnsupportedError
from lakeward.model.data_types import INT, STRING, TIMESTAMP
from lakeward.model.values import Timestamp
from lakeward.records.key.key_decoding import decode_key
from lakeward.records.key.key_encoding import KeyEncoding

_SINGLE = [v for v in VECTORS["single_column_keys_and_buckets"] if v["encoder"] != "hudi"]


@pytest.mark.parametrize("vector", _SINGLE, ids=label)
def test_keys_of_the_vectors_are_read(vector: dict) -> None:
    """Whatever the Java classes encode is decoded to what was encoded, or to what gives the same key."""
    encoding, key = KeyEncoding(vector["encoder"]), bytes.fromhex(vector["key_hex"])
    read = decode_key(encoding, types_of(vector), key)
    assert encode_key(encoding, types_of(vector), read) == key
    if encoding is not KeyEncoding.ICEBERG:
        assert repr(read) == repr(tuple(values_of(vector)))


@unhurried
@given(rows(scalar_types))
def test_keys_of_several_columns_are_read(row: tuple) -> None:
    """Compacted and Paimon keys give back all their columns."""
    types, values = row
    if None in values:
        return
    for encoding in (KeyEncoding.COMPACTED, KeyEncoding.PAIMON):
        read = decode_key(encoding, types, encode_key(encoding, types, values))
        assert repr(read) == repr(tuple(values))


def test_iceberg_keys_have_no_nanoseconds() -> None:
    """What the key leaves out is zero."""
    key = encode_key(KeyEncoding.ICEBERG, [TIMESTAMP(9)], (Timestamp(-1, 1_999),))
    assert decode_key(KeyEncoding.ICEBERG, [TIMESTAMP(9)], key) == (Timestamp(-1, 1_000),)


@pytest.mark.parametrize(
    ("encoding", "types", "key"),
    [
        (KeyEncoding.COMPACTED, [INT()], b""),
        (KeyEncoding.COMPACTED, [INT()], b"\x01\x01"),
        (KeyEncoding.COMPACTED, [INT()], b"\x81\x00"),
        (KeyEncoding.PAIMON, [INT()], b"\0" * 15),
        (KeyEncoding.PAIMON, [INT()], b"\0" * 17),
        (KeyEncoding.ICEBERG, [INT()], b"\0" * 4),
        (KeyEncoding.ICEBERG, [STRING()], b"\xff"),
    ],
)
def test_bytes_that_are_no_key_are_refused(encoding: KeyEncoding, types: list, key: bytes) -> None:
    """Cut, with bytes left over, or written in a way that nobody writes keys."""
    with pytest.raises(CorruptError):
        decode_key(encoding, types, key)


def test_hashes_are_not_read() -> None:
    """Hudi's keys hold no values."""
    with pytest.raises(UnsupportedError):
        decode_key(KeyEncoding.HUDI, [INT()], b"\0\0\0\0")
