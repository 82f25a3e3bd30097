"""Lines in files that begin anew when they are large."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.grants.records.audit_file import AuditFile


def open_file(directory: Path, bytes_max: int = 100, files_max: int = 3) -> AuditFile:
    """A small one."""
    return AuditFile(LocalFiles(), directory, bytes_max, files_max)


def test_lines_follow_each_other_over_lives_of_a_server(tmp_path: Path) -> None:
    """Nothing that is there is written over; the directory is made, all of it the owner's alone."""
    place = tmp_path / "audit"
    for number in range(3):
        file = open_file(place)
        file.write(b"%d\n" % number)
        file.close()
    assert (place / "audit.jsonl").read_bytes() == b"0\n1\n2\n"
    assert stat.S_IMODE((place / "audit.jsonl").stat().st_mode) == 0o600
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_a_line_that_was_cut_off_stays_alone(tmp_path: Path) -> None:
    """A machine that lost its power leaves half a line; the next one is whole."""
    (tmp_path / "audit.jsonl").write_bytes(b'{"a": 1}\n{"b')
    file = open_file(tmp_path)
    file.write(b'{"c": 1}\n')
    assert (tmp_path / "audit.jsonl").read_bytes() == b'{"a": 1}\n{"b\n{"c": 1}\n'


@pytest.mark.parametrize("files_max", [1, 2, 3])
def test_so_many_files_are_kept_and_no_more(tmp_path: Path, files_max: int) -> None:
    """The newest lines are in them, in order; a file has no more than its size."""
    file = open_file(tmp_path, files_max=files_max)
    for number in range(100):
        file.write(b"line %05d\n" % number)
    found = sorted(tmp_path.iterdir(), key=lambda path: path.name)
    assert len(found) == files_max
    assert all(path.stat().st_size <= 100 for path in found)
    newest_last = [tmp_path / "audit.jsonl", *(tmp_path / f"audit.{n}.jsonl" for n in range(1, files_max))][::-1]
    lines = b"".join(path.read_bytes() for path in newest_last).splitlines()
    assert lines == [b"line %05d" % number for number in range(100 - len(lines), 100)]


def test_a_line_larger_than_a_file_has_one_of_its_own(tmp_path: Path) -> None:
    """It is written whole."""
    file = open_file(tmp_path)
    file.write(b"small\n")
    file.write(b"x" * 500 + b"\n")
    file.write(b"small\n")
    assert [len(path.read_bytes()) for path in sorted(tmp_path.iterdir())] == [501, 6, 6]
