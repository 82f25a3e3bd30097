"""Row-formatted log payloads."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_vectors import VECTORS

from lakeward.errors import CorruptError
from lakeward.model.data_types import INT, STRING
from lakeward.records.arrow.row_batches import encode_records, records_of
from lakeward.records.row import compacted_row, indexed_row


@pytest.mark.parametrize(
    ("rows", "payload"),
    [
        (["00010000000100000078", "020000000002000000"], "0b00000000000100000001000000780a00000000020000000002000000"),
        (["00010178", "0202"], "05000000000001017803000000000202"),
    ],
    ids=["indexed", "compacted"],
)
def test_payloads_of_the_specification(rows: list[str], payload: str) -> None:
    """The worked examples: (1,'x') and (2,NULL)."""
    raw = [bytes.fromhex(r) for r in rows]
    assert encode_records(raw).hex() == payload
    assert [(change, bytes(row)) for change, row in records_of(bytes.fromhex(payload), 2)] == [(0, r) for r in raw]


CHANGE_TYPES = ("+A", "+I", "-U", "+U", "-D")
CODECS = {"INDEXED": indexed_row, "COMPACTED": compacted_row}


@pytest.mark.parametrize(
    "vector", [v for v in VECTORS["log_batches"] if v["log_format"] in CODECS], ids=lambda v: v["name"]
)
def test_payloads_that_java_wrote(vector: dict) -> None:
    """Whole batches of upstream's Java are read row by row, change types included, and written again."""
    payload = bytes.fromhex(vector["hex"])[vector["decoded"]["header_size"] :]
    codec = CODECS[vector["log_format"]].codec((INT(), STRING()))
    records = list(records_of(payload, vector["decoded"]["record_count"]))
    assert [[CHANGE_TYPES[change], *codec.decode(row)] for change, row in records] == vector["records"]
    rows = [codec.encode(told[1:]) for told in vector["records"]]
    assert encode_records(rows, [change for change, _ in records]) == payload


@given(st.lists(st.tuples(st.integers(0, 4), st.binary(max_size=50))))
def test_payloads_survive_a_round_trip(records) -> None:
    """Change types and rows come back in order."""
    payload = encode_records([row for _, row in records], [change for change, _ in records])
    assert [(change, bytes(row)) for change, row in records_of(payload, len(records))] == records


@given(st.binary(max_size=60), st.integers(0, 2**31 - 1))
def test_garbage_is_a_corrupt_record(garbage: bytes, claimed: int) -> None:
    """A payload that lies about its records is refused."""
    with contextlib.suppress(CorruptError):
        for _ in records_of(garbage, claimed):
            pass


@pytest.mark.parametrize(
    ("payload", "count", "why"),
    [
        ("0500000000", 1, "claims 5 bytes"),
        ("00000000", 1, "ends before record 0"),
        ("0000000000", 1, "claims 0 bytes"),
        ("ffffffff00", 1, "claims -1 bytes"),
        ("0100000009", 1, "change type 9"),
        ("0100000000aa", 1, "1 bytes follow"),
    ],
)
def test_what_is_wrong_is_said(payload: str, count: int, why: str) -> None:
    """The refusal names the record and the reason."""
    with pytest.raises(CorruptError, match=why):
        list(records_of(bytes.fromhex(payload), count))
