"""Files that appear whole or not at all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lakeward.lake import whole_files


def test_only_one_of_many_creates_a_file(tmp_path: Path) -> None:
    """Sixteen writers want the same snapshot number: one has it, and its content stays."""
    path = tmp_path / "snapshot" / "snapshot-1"
    with ThreadPoolExecutor(16) as pool:
        made = list(pool.map(lambda i: whole_files.create(path, str(i).encode()), range(16)))
    assert sum(made) == 1
    assert path.read_text() == str(made.index(True))
    assert list(path.parent.iterdir()) == [path]


def test_a_hint_is_exchanged_as_a_whole(tmp_path: Path) -> None:
    """Nothing is left of the old content, nor of the way there."""
    path = tmp_path / "LATEST"
    for text in (b"10", b"9"):
        whole_files.replace(path, text)
    assert path.read_bytes() == b"9"
    assert list(tmp_path.iterdir()) == [path]
