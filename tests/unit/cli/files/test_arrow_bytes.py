"""Bytes for Arrow's readers."""

from __future__ import annotations

import sys

from lakeward.cli.files.arrow_bytes import reader_of


def test_a_reader_has_the_bytes_and_not_the_object() -> None:
    """What it reads is a copy: nothing of Python's hangs on it."""
    data = b"id,name\n1,a\n" * 3
    held = sys.getrefcount(data)
    reader = reader_of(data)
    assert sys.getrefcount(data) == held
    assert reader.read() == data
