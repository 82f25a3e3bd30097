"""What every implementation of Files does alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.runtime.files.local_files import LocalFiles
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.runtime.files.port import Files, How, sync_data, write_all
from lakeward.runtime.files.whole_file import create_file, make_lasting_directory, replace_file


@pytest.fixture(params=["local", "memory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    """A disk with an empty directory on it."""
    made: Files = LocalFiles() if request.param == "local" else MemoryFiles()
    made.make_directory(tmp_path)
    return made


def _write(files: Files, path: Path, data: bytes) -> None:
    file = files.open(path, How.EMPTY)
    write_all(file, data, 0)
    file.close()


def test_what_is_written_is_read(files: Files, tmp_path: Path) -> None:
    """At any position, through any opening of the file."""
    file = files.open(tmp_path / "a", How.CREATE)
    assert file.pwrite(b"hello", 0) == 5
    assert file.pwrite(memoryview(b"there"), 6) == 5
    assert file.pread(100, 0) == b"hello\0there"
    assert file.pread(2, 3) == b"lo"
    assert files.read_bytes(tmp_path / "a") == b"hello\0there"
    assert file.facts().size == files.facts(tmp_path / "a").size == 11
    file.sync()
    file.sync_data()
    sync_data(files, tmp_path / "a")
    sync_data(files, tmp_path / "nothing")
    file.close()


def test_files_are_cut_and_lengthened(files: Files, tmp_path: Path) -> None:
    """By zeros, as room is."""
    file = files.open(tmp_path / "a", How.CREATE)
    file.pwrite(b"hello", 0)
    file.truncate(2)
    file.reserve(2, 3)
    assert file.pread(9, 0) == b"he\0\0\0"
    file.close()
    files.open(tmp_path / "a", How.EMPTY).close()
    assert files.facts(tmp_path / "a").size == 0


def test_what_is_missing_is_told(files: Files, tmp_path: Path) -> None:
    """As the system tells it."""
    nothing = tmp_path / "nothing"
    for how in (How.READ, How.EDIT):
        with pytest.raises(FileNotFoundError):
            files.open(nothing, how)
    with pytest.raises(FileNotFoundError):
        files.open(nothing / "below", How.CREATE)
    for call in (files.read_bytes, files.facts, files.entries, files.sync_directory, files.remove_directory):
        with pytest.raises(FileNotFoundError):
            call(nothing)
    with pytest.raises(FileNotFoundError):
        files.rename(nothing, tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        files.link(nothing, tmp_path / "b")
    files.unlink(nothing)
    files.remove_tree(nothing)
    assert files.glob(nothing, "*") == []
    assert not files.exists(nothing)


def test_a_new_file_must_be_new(files: Files, tmp_path: Path) -> None:
    """Whoever opens it second is told."""
    files.open(tmp_path / "a", How.NEW).close()
    with pytest.raises(FileExistsError):
        files.open(tmp_path / "a", How.NEW)


def test_a_link_is_the_same_file_under_another_name(files: Files, tmp_path: Path) -> None:
    """It stays when the first name goes."""
    _write(files, tmp_path / "a", b"1")
    files.link(tmp_path / "a", tmp_path / "b")
    assert files.facts(tmp_path / "a").number == files.facts(tmp_path / "b").number
    with pytest.raises(FileExistsError):
        files.link(tmp_path / "a", tmp_path / "b")
    files.unlink(tmp_path / "a")
    assert files.read_bytes(tmp_path / "b") == b"1"


def test_a_rename_takes_the_place_of_what_is_there(files: Files, tmp_path: Path) -> None:
    """Whoever has the old file open goes on reading it."""
    _write(files, tmp_path / "a", b"old")
    old = files.open(tmp_path / "a")
    _write(files, tmp_path / "b", b"new")
    files.rename(tmp_path / "b", tmp_path / "a")
    assert files.read_bytes(tmp_path / "a") == b"new"
    assert old.pread(9, 0) == b"old"
    assert files.entries(tmp_path) == [tmp_path / "a"]
    old.close()


def test_directories_come_and_go_with_all_that_is_in_them(files: Files, tmp_path: Path) -> None:
    """Made with those above, renamed as a whole, removed whole or empty."""
    files.make_directory(tmp_path / "x/y")
    files.make_directory(tmp_path / "x/y")
    _write(files, tmp_path / "x/y/1.log", b"1")
    _write(files, tmp_path / "x/2.log", b"2")
    assert files.glob(tmp_path, "*/*.log") == [tmp_path / "x/2.log"]
    assert files.glob(tmp_path, "*/*/*.log") == [tmp_path / "x/y/1.log"]
    assert files.is_directory(tmp_path / "x/y")
    assert not files.is_directory(tmp_path / "x/2.log")
    with pytest.raises(OSError, match="not empty"):
        files.remove_directory(tmp_path / "x")
    files.rename(tmp_path / "x", tmp_path / "z")
    assert files.read_bytes(tmp_path / "z/y/1.log") == b"1"
    files.remove_tree(tmp_path / "z")
    assert files.entries(tmp_path) == []


def test_a_lock_is_held_by_one(files: Files, tmp_path: Path) -> None:
    """Until it is closed; when it was last touched can be set."""
    lock = files.lock(tmp_path / "lock")
    assert lock is not None
    assert files.lock(tmp_path / "lock") is None
    files.set_time(tmp_path / "lock", 5_000)
    assert files.facts(tmp_path / "lock").modified_ns == 5_000_000_000
    lock.close()
    again = files.lock(tmp_path / "lock")
    assert again is not None
    again.close()


def test_a_disk_has_room_and_a_machine_a_start(files: Files, tmp_path: Path) -> None:
    """Whatever their values."""
    assert 0 < files.space(tmp_path).free_bytes <= files.space(tmp_path).total_bytes
    assert files.boot_id == files.boot_id
    files.tighten(tmp_path)
    assert files.resolve(tmp_path) == tmp_path


def test_whole_files_are_replaced_or_created_once(files: Files, tmp_path: Path) -> None:
    """Nothing is left beside them."""
    place = tmp_path / "a/b"
    make_lasting_directory(files, place)
    replace_file(files, place / "1", b"old")
    replace_file(files, place / "1", b"new", durable=False)
    assert create_file(files, place / "2", [b"fi", b"rst"], place / "2.beside")
    assert not create_file(files, place / "2", [b"second"], place / "2.beside")
    assert [files.read_bytes(path) for path in files.entries(place)] == [b"new", b"first"]
