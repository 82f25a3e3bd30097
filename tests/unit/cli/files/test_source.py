"""Bytes of files and pipes."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from read_files import source_of

from lakeward.cli.files.source import Source, unpacked_name


def test_a_packed_file_is_unpacked(tmp_path: Path) -> None:
    """`.gz` says how to read it, and what is under it says the format."""
    source = source_of(tmp_path, "t.csv.gz", gzip.compress(b"hello"))
    assert source.read(100) == b"hello"
    assert source.progress() == 1.0
    assert unpacked_name("t.csv.gz") == "t.csv"
    assert unpacked_name("t.csv") == "t.csv"


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
