"""A data directory belongs to one cluster: rows of others are never taken for its replicas, nor cut away."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakeward.errors import LakewardError
from lakeward.runtime.files.memory_files import MemoryFiles
from lakeward.runtime.files.whole_file import replace_file
from lakeward.server.zookeeper.home import FILE_NAME, check_home, note_home
from lakeward.storage.disk.directories import METADATA_FILE

_ROOT = Path("/data")


@pytest.fixture
def disk() -> MemoryFiles:
    """A disk with a data directory."""
    files = MemoryFiles()
    files.make_directory(_ROOT)
    return files


def test_a_directory_is_at_home_in_the_cluster_that_it_was_first_in(disk: MemoryFiles) -> None:
    """Also one that has replicas and no note, of an older release; the first note stays."""
    check_home(disk, _ROOT, "1-a")
    note_home(disk, _ROOT, "1-a")
    check_home(disk, _ROOT, "1-a")
    with pytest.raises(LakewardError, match=r"holds replicas of another cluster \(1-a; this one is 2-b\)"):
        check_home(disk, _ROOT, "2-b")
    note_home(disk, _ROOT, "2-b")
    check_home(disk, _ROOT, "1-a")


def test_the_directory_of_a_whole_server_is_no_replica(disk: MemoryFiles) -> None:
    """Its tables have the numbers that the cluster's have."""
    replace_file(disk, _ROOT / METADATA_FILE, b"")
    with pytest.raises(LakewardError, match="one of `lakeward serve`"):
        check_home(disk, _ROOT, "1-a")


def test_a_note_that_says_nothing_is_refused(disk: MemoryFiles) -> None:
    """Rather than to guess whose rows they are."""
    note_home(disk, _ROOT, "1-a")
    replace_file(disk, _ROOT / FILE_NAME, b"{}")
    with pytest.raises(LakewardError, match="does not say whose replicas"):
        check_home(disk, _ROOT, "1-a")
