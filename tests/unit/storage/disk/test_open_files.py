"""A bounded set of open files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.open_files import OpenFiles

LARGE = 200_000


def open_in(directory: Path) -> int:
    """How many files of a directory this process has open."""
    targets = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(link.readlink())
    return sum(target.is_relative_to(directory) for target in targets)


def write(files: OpenFiles, path: Path, data: bytes, at: int = 0) -> None:
    """Write through the open file."""
    files.get(path, create=True).pwrite(data, at)


def test_no_more_files_are_open_than_the_limit(tmp_path: Path) -> None:
    """The one touched longest ago is closed for the next."""
    files = OpenFiles(LocalFiles(), 3)
    for number in range(50):
        write(files, tmp_path / str(number), b"%d" % number)
        assert len(files) == open_in(tmp_path) == min(number + 1, 3)
    files.close()
    assert open_in(tmp_path) == 0


def test_a_file_in_use_stays_open(tmp_path: Path) -> None:
    """What is touched again and again is not closed for what is touched once."""
    files = OpenFiles(LocalFiles(), 2)
    busy = files.get(tmp_path / "busy", create=True)
    for number in range(9):
        files.get(tmp_path / str(number), create=True)
        assert files.get(tmp_path / "busy") is busy


def test_a_closed_file_is_opened_again(tmp_path: Path) -> None:
    """Content written before a file was closed for another is read afterwards."""
    files = OpenFiles(LocalFiles(), 1)
    for number in range(5):
        write(files, tmp_path / str(number), b"%d" % number * 4)
    for number in range(5):
        assert files.get(tmp_path / str(number)).read(1, 3) == b"%d" % number * 2


def test_large_ranges_are_read_as_well_as_small_ones(tmp_path: Path) -> None:
    """The bytes are the same, also after the file has grown."""
    files = OpenFiles(LocalFiles(), 1)
    content = os.urandom(3 * LARGE)
    path = tmp_path / "f"
    write(files, path, content[: 2 * LARGE])
    assert files.get(path).read(1, 2 * LARGE) == content[1 : 2 * LARGE]
    write(files, path, content[2 * LARGE :], 2 * LARGE)
    assert files.get(path).read(5, 3 * LARGE) == content[5:]
    assert files.get(path).read(7, 90) == content[7:90]


def test_a_view_outlives_its_file(tmp_path: Path) -> None:
    """An answer on its way keeps its bytes though the file is closed, renamed and deleted."""
    files = OpenFiles(LocalFiles(), 1)
    content = os.urandom(LARGE)
    path = tmp_path / "f"
    write(files, path, content)
    view = files.get(path).read(0, LARGE)
    files.forget(path)
    path.rename(tmp_path / "gone")
    (tmp_path / "gone").unlink()
    files.get(tmp_path / "other", create=True)
    assert view == content


def test_forgetting_an_unknown_file_is_fine(tmp_path: Path) -> None:
    """Nothing is closed that was not open."""
    OpenFiles(LocalFiles(), 1).forget(tmp_path / "never")
