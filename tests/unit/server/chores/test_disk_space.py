"""DiskSpace: when writes stop and when they go on."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options.server_options import ServerOptions
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.runtime.files.port import How, Space
from lakeward.server.chores.disk_space import DiskSpace
from lakeward.server.chores.write_stop import WriteStop
from lakeward.storage.disk.directories import LOCK_FILE, DataDirectory


class Disk(MemoryFiles):
    """A disk that is as full as the test says."""

    used = 0.5

    def space(self, _: Path) -> Space:
        """A thousand pages."""
        return Space(4096 * round(1000 * (1 - self.used)), 4096 * 1000)


@pytest.fixture
def disk() -> Disk:
    """One that is half full."""
    return Disk()


def space(disk: Disk, writes: WriteStop, **limits: str) -> DiskSpace:
    """With limits as a user sets them."""
    settings = {f"server.data-disk.write-{name}-ratio": value for name, value in limits.items()}
    options = ServerOptions.of(settings)
    return DiskSpace(DataDirectory(disk, Path("/data")), lambda: options, writes)


def test_writes_stop_at_the_limit_and_resume_at_the_lower_one(disk: Disk) -> None:
    """Between the two ratios nothing changes, so that writes do not flutter."""
    writes = WriteStop()
    watched = space(disk, writes)
    for used, is_stopped in ((0.84, False), (0.86, True), (0.82, True), (0.79, False), (0.82, False)):
        disk.used = used
        watched.look()
        assert bool(writes.reasons) is is_stopped, used


def test_what_writers_are_told(disk: Disk) -> None:
    """The error names the disk, how full it is and the option."""
    writes = WriteStop()
    disk.used = 0.9
    space(disk, writes).look()
    with pytest.raises(LakewardError, match=r"/data.*90\.0 % full.*write-limit-ratio") as raised:
        writes.check()
    assert raised.value.code is ErrorCode.DISK_WRITE_LOCKED


def test_a_limit_of_one_never_stops_writes(disk: Disk) -> None:
    """Then the disk itself says when it is full."""
    writes = WriteStop()
    disk.used = 1.0
    space(disk, writes, limit="1").look()
    writes.check()


def test_a_recovery_above_the_limit_counts_as_the_limit(disk: Disk) -> None:
    """Otherwise writes would stop and go on at every look."""
    writes = WriteStop()
    watched = space(disk, writes, limit="0.5", recover="0.9")
    for used, is_stopped in ((0.6, True), (0.55, True), (0.49, False)):
        disk.used = used
        watched.look()
        assert bool(writes.reasons) is is_stopped, used


def test_writes_stop_while_the_data_directory_is_somewhere_else(disk: Disk) -> None:
    """Files that are open take rows as before, and nobody finds them again; put back, they go on."""
    writes = WriteStop()
    watched = space(disk, writes)
    for moved, is_stopped in (((), False), (("/data", "/away"), True), (("/away", "/data"), False)):
        if moved:
            disk.rename(*map(Path, moved))
        watched.look()
        assert bool(writes.reasons) is is_stopped, moved


def test_writes_stop_when_another_server_could_come_in(disk: Disk) -> None:
    """A lock that was removed keeps nobody out, and one that came after it is somebody else's."""
    writes = WriteStop()
    watched = space(disk, writes)
    disk.unlink(Path("/data") / LOCK_FILE)
    for _ in ("gone", "another"):
        watched.look()
        with pytest.raises(LakewardError, match=r"/data.*moved, removed or replaced") as raised:
            writes.check()
        assert raised.value.code is ErrorCode.DISK_WRITE_LOCKED
        disk.open(Path("/data") / LOCK_FILE, How.CREATE).close()
