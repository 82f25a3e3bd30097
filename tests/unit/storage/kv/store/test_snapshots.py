"""Snapshots on disk, without an engine."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.runtime.files.local_files import LocalFile, LocalFiles
from lakeward.runtime.files.port import How
from lakeward.storage.kv.store.snapshots import (
    MANIFEST,
    PendingSnapshot,
    Snapshot,
    new_staging,
    newest_good_snapshot,
    stored_snapshots,
)


def pending(directory: Path, offset: int, fill: Callable[[Path], None] | None = None) -> PendingSnapshot:
    """A snapshot of two small files."""
    return PendingSnapshot(
        disk=LocalFiles(),
        directory=directory,
        staging=new_staging(LocalFiles(), directory),
        engine="test",
        log_offset=offset,
        row_count=3,
        live_bytes=30,
        extra={"note": "für später", "numbers": [1, 2]},
        fill=fill or fill_two,
    )


def fill_two(staging: Path) -> None:
    """What an engine does."""
    (staging / "one").write_bytes(b"content")
    (staging / "two").write_bytes(b"")


def test_what_was_written_is_found(tmp_path: Path) -> None:
    """All facts of the manifest come back."""
    written = pending(tmp_path, 17).write()
    assert newest_good_snapshot(LocalFiles(), tmp_path) == written
    assert written == Snapshot(
        disk=written.disk,
        path=tmp_path / "snapshot-0000000001",
        engine="test",
        log_offset=17,
        row_count=3,
        live_bytes=30,
        extra={"note": "für später", "numbers": [1, 2]},
        files=written.files,
    )
    assert written.files["one"][0] == 7
    assert written.id == 1


def test_nothing_is_found_where_nothing_is(tmp_path: Path) -> None:
    """No directory, an empty one, or one with strange names in it."""
    assert newest_good_snapshot(LocalFiles(), tmp_path / "no") is None
    (tmp_path / "snapshot-x").mkdir()
    (tmp_path / "snapshot-0000000001").mkdir()
    assert newest_good_snapshot(LocalFiles(), tmp_path) is None
    assert stored_snapshots(LocalFiles(), tmp_path) == []
    assert pending(tmp_path, 1).write().id == 2


def test_an_interrupted_snapshot_is_none(tmp_path: Path) -> None:
    """Until the last rename there is nothing; the next snapshot removes what was left."""
    good = pending(tmp_path, 1).write()
    staging = new_staging(LocalFiles(), tmp_path)
    staging.mkdir()
    fill_two(staging)
    (staging / MANIFEST).write_text((good.path / MANIFEST).read_text())
    assert newest_good_snapshot(LocalFiles(), tmp_path) == good
    pending(tmp_path, 2).write()
    assert not staging.exists()


@pytest.mark.parametrize("harm", ["a file misses", "a file is longer", "a digit", "another version", "not JSON"])
def test_harm_is_seen(harm: str, tmp_path: Path) -> None:
    """A snapshot is good when every byte is as it was written."""
    path = pending(tmp_path, 17).write().path
    manifest = path / MANIFEST
    match harm:
        case "a file misses":
            (path / "two").unlink()
        case "a file is longer":
            (path / "two").write_bytes(b"x")
        case "a digit":
            manifest.write_text(manifest.read_text().replace('"log_offset": 17', '"log_offset": 18'))
        case "another version":
            content = json.loads(manifest.read_text())
            manifest.write_text(json.dumps(content | {"version": 2}))
        case _:
            manifest.write_text("[1]")
    assert newest_good_snapshot(LocalFiles(), tmp_path) is None


def test_a_file_shared_with_the_snapshot_before_is_not_read_again(tmp_path: Path) -> None:
    """A link to a file of the last snapshot keeps its checksum; a file that merely has its name does not."""
    before = pending(tmp_path, 1).write()
    read: list[str] = []

    class NotingFiles(LocalFiles):
        def open(self, path: Path, how: How = How.READ, mode: int = 0o644) -> LocalFile:
            if how is How.READ:
                read.append(path.name)
            return super().open(path, how, mode)

    def share(staging: Path) -> None:
        (staging / "one").hardlink_to(before.path / "one")
        (staging / "two").write_bytes(b"")

    after = replace(pending(tmp_path, 2, share), disk=NotingFiles()).write()
    assert "one" not in read
    assert "two" in read
    assert after.files == before.files
    assert newest_good_snapshot(LocalFiles(), tmp_path) == after


def test_an_engine_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """An error while the files are written is told, and nothing is there."""

    def fail(staging: Path) -> None:
        (staging / "half").write_bytes(b"x")
        raise OSError(28, "No space left on device")

    with pytest.raises(LakewardError, match="No space left") as raised:
        pending(tmp_path, 1, fail).write()
    assert raised.value.code is ErrorCode.KV_STORAGE
    assert list(tmp_path.iterdir()) == []


def test_a_snapshot_can_be_given_up(tmp_path: Path) -> None:
    """Discard leaves nothing, whether or not anything was there."""
    given_up = pending(tmp_path, 1)
    given_up.discard()
    given_up.staging.mkdir()
    given_up.discard()
    assert list(tmp_path.iterdir()) == []
