"""Index files against the batches that they point to."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.log.segment.index_check import damaged_indexes

BASE = 1000
ENDS = {0: 1004, 200: 1009, 400: 1019}
TIMES = {50, 60}
GOOD = {".index": struct.pack(">iiii", 9, 200, 19, 400), ".timeindex": struct.pack(">qiqi", 50, 0, 60, 10)}


@pytest.mark.parametrize(
    ("suffix", "data", "why"),
    [
        (".index", struct.pack(">ii", 9, 201), "the batch at byte 201"),
        (".index", struct.pack(">ii", 8, 200), "ends at offset 1008"),
        (".index", GOOD[".index"][:-1], "no whole number"),
        (".timeindex", struct.pack(">qi", 51, 0), "reached 51"),
        (".timeindex", struct.pack(">qi", 50, 20), "at offset 1020"),
        (".timeindex", b"1", "no whole number"),
    ],
)
def test_what_does_not_fit_is_named(tmp_path: Path, suffix: str, data: bytes, why: str) -> None:
    """The good one is not; nor is one that is missing, which is made again."""
    segment = tmp_path / "00000000000000001000.log"
    assert damaged_indexes(LocalFiles(), segment, BASE, ENDS, TIMES) == []
    for name, content in {**GOOD, suffix: data}.items():
        segment.with_suffix(name).write_bytes(content)
    ((path, told),) = damaged_indexes(LocalFiles(), segment, BASE, ENDS, TIMES)
    assert path.suffix == suffix
    assert why in told
