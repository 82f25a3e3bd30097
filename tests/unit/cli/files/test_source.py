"""Bytes of files and pipes."""

from __future__ import annotations

import gzip
import os
from functools import partial
from pathlib import Path

import pytest
from read_files import source_of

from lakeward.cli.files.bad_row import BadRowError
from lakeward.cli.files.source import Source, unpacked_name


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    """`.gz` says how to read it, and what is under it says the format."""
    source = source_of(tmp_path, "t.csv.gz", gzip.compress(b"hello"))
    assert source.read(100) == b"hello"
    assert source.progress() == 1.0
    assert unpacked_name("t.csv.gz") == "t.csv"
    assert unpacked_name("t.csv") == "t.csv"


@pytest.mark.parametrize("data", [gzip.compress(os.urandom(100_000))[:-50_000], b"id,name\n1,plain\n"])
def test_what_cannot_be_unpacked_is_told_with_its_name(tmp_path: Path, data: bytes) -> None:
    """A file that was cut off, and one that only looks packed: which file it is, and what may be the matter."""
    source = source_of(tmp_path, "t.csv.gz", data)
    with pytest.raises(BadRowError, match=r"t\.csv\.gz: it is cut off, damaged, or not packed"):
        list(iter(partial(source.read, 1 << 16), b""))


def test_progress_is_the_share_that_was_read(tmp_path: Path) -> None:
    """Half the file is a half."""
    source = source_of(tmp_path, "t", b"1234")
    assert source.progress() == 0.0
    source.read(2)
    assert source.progress() == 0.5


def test_a_pipe_gives_what_is_there(tmp_path: Path) -> None:
    """Rows of a pipe are read as they come, without waiting for a whole block."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    end = os.open(path, os.O_RDWR)  # open for both, so that neither side waits for the other
    os.write(end, b"a row\n")
    source = Source(str(path))
    assert source.read(1000) == b"a row\n"
    assert source.progress() is None
    source.close()
    os.close(end)


def test_a_missing_file_is_the_systems_error() -> None:
    """What the system says is told as it is."""
    with pytest.raises(FileNotFoundError):
        Source("/nonexistent/file.csv")
