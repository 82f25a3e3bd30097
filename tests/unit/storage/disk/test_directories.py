"""The data directory: one owner, and a place for everything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TablePath
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.directories import DataDirectory

PATH = TablePath("db", "t")


def test_a_second_owner_is_refused_with_a_clear_sentence(tmp_path: Path) -> None:
    """Who tries to use a directory in use learns which directory, which process, and what to do."""
    with DataDirectory(LocalFiles(), tmp_path / "data"):
        with pytest.raises(LakewardError, match="--data-dir") as caught:
            DataDirectory(LocalFiles(), tmp_path / "data")
        assert caught.value.code is ErrorCode.STORAGE
        assert str(tmp_path / "data") in caught.value.message
        assert f"process {os.getpid()}" in caught.value.message


def test_a_refusal_leaves_the_first_owner_in_peace(tmp_path: Path) -> None:
    """After a refused attempt the directory is still locked, and after closing it is free."""
    with DataDirectory(LocalFiles(), tmp_path):
        for _ in range(3):
            with pytest.raises(LakewardError):
                DataDirectory(LocalFiles(), tmp_path)
    with DataDirectory(LocalFiles(), tmp_path):
        pass


def test_a_lock_file_left_by_a_killed_server_is_no_lock(tmp_path: Path) -> None:
    """The lock dies with its process; a long pid of the dead owner does not show through."""
    (tmp_path / "lakeward.lock").write_text("123456789\n")
    with DataDirectory(LocalFiles(), tmp_path):
        assert (tmp_path / "lakeward.lock").read_text() == f"{os.getpid()}\n"


def test_directories_are_named_as_at_apache_fluss(tmp_path: Path) -> None:
    """Tables carry their id, partitions name and id, logs their bucket."""
    with DataDirectory(LocalFiles(), tmp_path) as data:
        table = data.table(PATH, 7)
        partition = data.partition(PATH, 7, "2024$eu", 3)
        assert table.relative_to(data.root) == Path("db/t-7")
        assert partition.relative_to(data.root) == Path("db/t-7/2024$eu-p3")
        assert data.log(partition, 2).relative_to(data.root) == Path("db/t-7/2024$eu-p3/log-2")
        assert data.metadata_file == data.root / "metadata.db"


def test_a_dropped_table_is_out_of_the_way_at_once(tmp_path: Path) -> None:
    """Its directory is renamed first and deleted later; dropping nothing is fine."""
    with DataDirectory(LocalFiles(), tmp_path) as data:
        table = data.table(PATH, 7)
        assert data.drop(table) is None
        data.log(table, 0).mkdir(parents=True)
        away = data.drop(table)
        assert away is not None
        assert not table.exists()
        assert data.leftovers() == [away]
        data.remove(away)
        assert not away.exists()


def test_drops_that_a_crash_interrupted_are_found_again(tmp_path: Path) -> None:
    """Both a table and a partition that were renamed but not deleted are listed after a restart."""
    with DataDirectory(LocalFiles(), tmp_path) as data:
        for directory in (data.table(PATH, 7), data.partition(TablePath("db", "u"), 8, "p", 1)):
            data.log(directory, 0).mkdir(parents=True)
            data.drop(directory)
    with DataDirectory(LocalFiles(), tmp_path) as data:
        assert sorted(path.name for path in data.leftovers()) == ["p-p1.dropped", "t-7.dropped"]
