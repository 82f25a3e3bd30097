"""Directories: one behaviour, local and by pyarrow."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from pyarrow import fs

from lakeward.client.staged.parts.directory import Directory, LocalDirectory
from lakeward.client.staged.parts.open_directory import directory_at
from lakeward.client.staged.parts.remote_directory import RemoteDirectory
from lakeward.errors import LakewardError


@pytest.fixture(params=["local", "remote"])
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    """A directory of each kind."""
    if request.param == "local":
        return LocalDirectory(tmp_path)
    return RemoteDirectory(str(tmp_path), files=fs.LocalFileSystem())


def test_a_file_is_created_once(directory: Directory) -> None:
    """Who comes second leaves it as it is."""
    assert directory.create_once("a/b", [b"one ", memoryview(b"two")])
    assert not directory.create_once("a/b", [b"three"])
    assert directory.read("a/b") == b"one two"


def test_what_is_not_there_is_none(directory: Directory) -> None:
    """Neither files nor directories, and deleting them is no error."""
    assert directory.read("a/b") is None
    assert directory.files("a") == []
    assert directory.subdirectories("a") == []
    directory.delete("a/b")
    directory.delete_tree("a")


def test_files_are_streamed_and_read_in_stretches(directory: Directory) -> None:
    """Parts are larger than memory."""
    stream = directory.open_new("parts/1/x")
    stream.write(b"0123")
    stream.write(memoryview(b"456789"))
    directory.close_durably(stream)
    assert directory.read_at("parts/1/x", 3, 4) == bytearray(b"3456")
    with pytest.raises(LakewardError, match="ends before byte 11"):
        directory.read_at("parts/1/x", 8, 3)
    with pytest.raises(LakewardError, match=r"(?i)cannot read"):
        directory.read_at("parts/1/y", 0, 1)


def test_files_are_replaced_listed_and_deleted(directory: Directory) -> None:
    """Only whole files are listed."""
    directory.replace("d/x", b"1")
    directory.replace("d/x", b"2")
    directory.replace("d/y/z", b"3")
    assert directory.read("d/x") == b"2"
    assert [f.name for f in directory.files("d")] == ["x"]
    assert directory.files("d")[0].modified_ms > 0
    assert directory.subdirectories("d") == ["y"]
    directory.delete("d/x")
    directory.delete_tree("d/y")
    assert directory.files("d") == []
    assert directory.subdirectories("d") == []


def test_of_many_who_create_a_local_file_one_wins(tmp_path: Path) -> None:
    """And everybody reads what the winner wrote."""
    gate, won = threading.Barrier(8), []

    def create(number: int) -> None:
        gate.wait()
        if LocalDirectory(tmp_path).create_once("m", [str(number).encode() * 1000]):
            won.append(number)

    threads = [threading.Thread(target=create, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert (tmp_path / "m").read_bytes() == str(won[0]).encode() * 1000
    assert [p.name for p in tmp_path.iterdir()] == ["m"]


def test_a_rename_that_refuses_decides_who_was_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on HDFS: both looked, nobody was there, both rename."""
    directory = RemoteDirectory(str(tmp_path), files=_LikeHdfs(), rename_refuses=True)
    (tmp_path / "m").write_bytes(b"first")
    looked = iter([False, True])
    monkeypatch.setattr(directory, "_exists", lambda path: next(looked))
    assert not directory.create_once("m", [b"second"])
    assert (tmp_path / "m").read_bytes() == b"first"
    assert [f.name for f in directory.files()] == ["m"]


class _LikeHdfs:
    """pyarrow's local files, with a rename that refuses."""

    def __init__(self) -> None:
        self._inner = fs.LocalFileSystem()

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def move(self, source: str, target: str) -> None:
        """Refuse to replace."""
        if Path(target).exists():
            raise OSError("exists")
        self._inner.move(source, target)


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}"])
def test_local_directories_have_several_names(tmp_path: Path, form: str) -> None:
    """As Hadoop and pyarrow write them."""
    found = directory_at(form.format(f"{tmp_path}/a%20b" if "file" in form else f"{tmp_path}/a b"))
    assert isinstance(found, LocalDirectory)
    assert found.uri == f"{tmp_path}/a b"


def test_an_unknown_file_system_is_a_clear_error() -> None:
    """The message names the URI."""
    with pytest.raises(LakewardError, match="nonsense://x/y: cannot open"):
        directory_at("nonsense://x/y")
