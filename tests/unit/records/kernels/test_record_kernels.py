"""The loops that cut and write records: they stop at the first one that is wrong, and say which."""

from __future__ import annotations

import numpy as np
import pytest

from lakeward.records.kernels.record_kernels import (
    ALL_GOOD,
    cut_changes,
    cut_kv_records,
    cut_records,
    put_changes,
    put_records,
)
from lakeward.records.kernels.spans import Spans, read_only

RECORDS = [b"", b"a", b"bc" * 100]


def written(records: list[bytes]) -> bytes:
    """Records with their lengths."""
    return b"".join(len(r).to_bytes(4, "little") + r for r in records)


def test_records_are_written_and_cut() -> None:
    """Each has its length before it, and they begin where they are told to."""
    spans, out = Spans.of(RECORDS), np.zeros(3 + len(written(RECORDS)), np.uint8)
    put_records(spans.starts, spans.ends, out, 3)
    assert out.tobytes() == bytes(3) + written(RECORDS)
    starts, ends = np.empty((2, 3), np.int64)
    assert cut_records(read_only(out), 3, starts, ends) == ALL_GOOD
    assert [out[a:b].tobytes() for a, b in zip(starts, ends, strict=True)] == RECORDS


def test_changes_are_written_and_cut() -> None:
    """The change type stands between the length and the row."""
    spans, kinds = Spans.of(RECORDS), np.array([1, 2, 4], np.uint8)
    expected = written([bytes([k]) + r for k, r in zip(kinds, RECORDS, strict=True)])
    out = np.zeros(len(expected), np.uint8)
    put_changes(kinds, spans.starts, spans.ends, out, 0)
    assert out.tobytes() == expected
    found, (starts, ends) = np.empty(3, np.uint8), np.empty((2, 3), np.int64)
    assert cut_changes(read_only(out), 0, found, starts, ends) == ALL_GOOD
    assert found.tolist() == kinds.tolist()
    assert (ends - starts).tolist() == [len(r) for r in RECORDS]


@pytest.mark.parametrize(
    ("data", "first_wrong"),
    [
        (written(RECORDS)[:-1], 2),
        (written(RECORDS) + b"\0", 3),
        (written(RECORDS[:2]), 2),
        (b"\xff\xff\xff\xff" + written(RECORDS), 0),
        (b"", 0),
    ],
)
def test_the_first_wrong_record_is_named(data: bytes, first_wrong: int) -> None:
    """Cut off, too many, too few, negative, none."""
    starts, ends = np.empty((2, 3), np.int64)
    assert cut_records(read_only(data), 0, starts, ends) == first_wrong


def test_kv_records_are_cut_into_key_and_row() -> None:
    """A row that is not there has no place."""
    data = written([b"\x01kROW", b"\x02ab"])
    places = np.empty((4, 2), np.int64)
    assert cut_kv_records(read_only(data), 0, *places) == ALL_GOOD
    assert places[:, 0].tolist() == [5, 6, 6, 9]
    assert places[:, 1].tolist() == [14, 16, -1, -1]
