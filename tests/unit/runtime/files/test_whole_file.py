"""Small files replaced atomically."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.whole_file import replace_file


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_created_and_replaced(tmp_path: Path, durable: bool) -> None:
    """The new content stands under the name; nothing else is left beside it."""
    path = tmp_path / "checkpoint"
    replace_file(LocalFiles(), path, b"one", durable=durable)
    replace_file(LocalFiles(), path, b"two and more", durable=durable)
    assert path.read_bytes() == b"two and more"
    assert list(tmp_path.iterdir()) == [path]


def test_a_leftover_of_a_crash_does_no_harm(tmp_path: Path) -> None:
    """A half-written file beside the old one is overwritten by the next attempt."""
    path = tmp_path / "checkpoint"
    replace_file(LocalFiles(), path, b"old")
    (tmp_path / "checkpoint.tmp").write_bytes(b"half of a much longer content")
    assert path.read_bytes() == b"old"
    replace_file(LocalFiles(), path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
