"""What a crash leaves of files in memory."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from lakeward.runtime.entropy import SeededEntropy
from lakeward.runtime.files.memory_files import Change, MemoryFiles
from lakeward.runtime.files.port import How
from lakeward.runtime.files.whole_file import replace_file

_DIRECTORY = Path("/data")


def _files() -> MemoryFiles:
    files = MemoryFiles()
    files.make_directory(_DIRECTORY)
    files.sync_directory(Path("/"))
    return files


def test_a_kill_keeps_what_was_written_and_tears_what_is_under_way() -> None:
    """The page cache outlives the process; the write that was interrupted is there in part."""
    files = _files()
    path = _DIRECTORY / "log"
    files.open(path, How.CREATE).pwrite(b"first", 0)
    lefts = {
        files.after_kill(Change("write", path, b"second", 5), SeededEntropy(seed)).read_bytes(path)
        for seed in range(99)
    }
    assert lefts == {b"first" + b"second"[:size] for size in range(7)}
    assert files.read_bytes(path) == b"first"


def test_a_power_cut_keeps_what_was_synced_and_any_part_of_the_rest() -> None:
    """Unsynced bytes are lost, torn or zeros; synced ones never."""
    files = _files()
    path = _DIRECTORY / "log"
    file = files.open(path, How.CREATE)
    files.sync_directory(_DIRECTORY)
    file.pwrite(b"synced", 0)
    file.sync()
    file.pwrite(b"lost", 6)
    lefts = {files.after_power_cut(SeededEntropy(seed)).read_bytes(path) for seed in range(99)}
    assert {b"synced", b"syncedlost", b"syncedlo"} <= lefts
    assert all(left.startswith(b"synced") for left in lefts)
    assert any(left.endswith(b"\0") for left in lefts)


def test_a_name_lasts_when_its_directory_was_synced() -> None:
    """A file that was synced under a name that was not is gone, or there; a whole file is always one of both."""
    files = _files()
    path = _DIRECTORY / "whole"
    replace_file(files, path, b"old")
    replace_file(files, path, b"new", durable=False)
    lefts = {files.after_power_cut(SeededEntropy(seed)).read_bytes(path) for seed in range(99)}
    assert {b"old", b"new", b""} <= lefts  # without durable, the name may come before the content
    replace_file(files, path, b"newest")
    assert {files.after_power_cut(SeededEntropy(seed)).read_bytes(path) for seed in range(99)} == {b"newest"}


def test_a_machine_that_starts_anew_says_so() -> None:
    """Another boot, and nobody holds a lock; a killed process leaves the boot as it is."""
    files = _files()
    assert files.lock(_DIRECTORY / "lock") is not None
    killed, cut = files.after_kill(None, SeededEntropy(1)), files.after_power_cut(SeededEntropy(1))
    assert (killed.boot_id == files.boot_id, cut.boot_id == files.boot_id) == (True, False)
    assert killed.lock(_DIRECTORY / "lock") is not None


def test_whoever_watches_can_let_the_disk_fail() -> None:
    """Then nothing has changed."""

    def full(change: Change) -> None:
        if change.what == "write":
            raise OSError(errno.ENOSPC, "No space left on device")

    files = _files()
    files.watch = full
    with pytest.raises(OSError, match="No space"):
        replace_file(files, _DIRECTORY / "a", b"1")
    assert files.entries(_DIRECTORY) == []
