"""Files of lake tables: what holds on a disk holds in a bucket."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import LakePath, lake_path, modified_ms


@pytest.fixture(params=["directory", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> LakePath:
    """An empty folder."""
    if request.param == "directory":
        return lake_path(f"file://{tmp_path}", {})
    bucket = request.getfixturevalue("s3")
    return lake_path(f"s3://{bucket.name}/some/folder", bucket.settings)


def test_only_one_of_many_creates_a_file(folder: LakePath) -> None:
    """Twelve writers want the same snapshot number: one has it, and its content stays."""
    path = folder / "snapshot" / "snapshot-1"
    with ThreadPoolExecutor(12) as pool:
        made = list(pool.map(lambda i: whole_files.create(path, str(i).encode()), range(12)))
    assert sum(made) == 1
    assert path.read_text() == str(made.index(True))


def test_a_hint_is_exchanged(folder: LakePath) -> None:
    """Nothing is left of the old content."""
    folder.mkdir(parents=True, exist_ok=True)
    for text in (b"10", b"9"):
        whole_files.replace(folder / "LATEST", text)
    assert (folder / "LATEST").read_bytes() == b"9"


def test_what_is_not_there_is_not_found(folder: LakePath) -> None:
    """Whoever asks for it, and in whichever way."""
    missing = folder / "missing"
    assert not missing.is_file()
    assert not missing.exists()
    with pytest.raises(FileNotFoundError):
        missing.read_text()
    with pytest.raises(FileNotFoundError):
        missing.open("rb")
    missing.unlink(missing_ok=True)


def test_a_folder_is_listed(folder: LakePath) -> None:
    """Its own files by a pattern, all below it with their times; names with odd letters come back as they are."""
    odd = folder / "dt=2026-11-01 10%3A00?#" / "bucket-0"
    for path in (folder / "tag-a", folder / "tag-b", folder / "other", odd / "data-0.parquet"):
        assert whole_files.create(path, b"x")
    assert sorted(p.name for p in folder.glob("tag-*")) == ["tag-a", "tag-b"]
    found = {str(p): p for p in folder.rglob("*.parquet")}
    assert list(found) == [str(odd / "data-0.parquet")]
    assert modified_ms(next(iter(found.values()))) > 1_700_000_000_000
    assert lake_path(str(odd), {}).name == "bucket-0"
    assert (folder / "other").parent == folder
    assert odd.exists()


def test_a_large_file_is_read_in_parts(folder: LakePath) -> None:
    """Written beside and sent when it is done; streams go where they are told."""
    folder.mkdir(parents=True, exist_ok=True)
    data = bytes(range(256)) * 40_000
    output = whole_files.Output(folder / "large")
    output.stream.write(data)
    output.close()
    with (folder / "large").open("rb") as stream:
        stream.seek(-8, io.SEEK_END)
        assert stream.read() == data[-8:]
        stream.seek(5_000_001)
        assert stream.read(3_000_000) == data[5_000_001:8_000_001]
    whole_files.copy(folder / "large", folder / "copy")
    assert (folder / "copy").read_bytes() == data


def test_a_file_that_is_given_up_is_nowhere(folder: LakePath) -> None:
    """In a bucket nothing was ever there; on a disk its owner removes it."""
    folder.mkdir(parents=True, exist_ok=True)
    output = whole_files.Output(folder / "given up")
    output.stream.write(b"x")
    output.abandon()
    (folder / "given up").unlink(missing_ok=True)
    assert not (folder / "given up").exists()
