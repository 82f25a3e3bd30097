"""Snapshots of the state, with the log offset they hold. The same for every engine.

    <directory>/
      snapshot-0000000007/           whole: the rename that gave it its name came last
        manifest.json                engine, log_offset, row_count, live_bytes, extra; size and CRC-32C of every file
        ...                          the engine's files
      snapshot-0000000008.taking/    one that is being written, or that a crash interrupted

A snapshot that misses a file, or has a byte that is not as it was written, is not good; the one before it is taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.errors import ErrorCode, LakewardError
from lakeward.records.batch.crc32c import checksum
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import write_file

MANIFEST = "manifest.json"
VERSION = 1
KEPT = 2
_TAKING = ".taking"
_NAME = re.compile(r"snapshot-(\d{10,})")
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot on disk: where, of which engine, and what it holds."""

    disk: Files = field(repr=False, compare=False)
    path: Path
    engine: str
    log_offset: int
    row_count: int
    live_bytes: int
    extra: Mapping[str, Any]
    files: Mapping[str, tuple[int, int]]

    @property
    def id(self) -> int:
        """Its number; a later snapshot has a higher one."""
        return _id_of(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingSnapshot:
    """The state of one moment, to be written at leisure: `write` it, or `discard` it."""

    disk: Files
    directory: Path
    #: Where the files are gathered until the snapshot is whole.
    staging: Path
    engine: str
    log_offset: int
    row_count: int
    live_bytes: int
    extra: Mapping[str, Any]
    fill: Callable[[Path], None]

    def write(self) -> Snapshot:
        """Write the snapshot, and remove those it makes superfluous."""
        try:
            self.disk.make_directory(self.staging)
            self.fill(self.staging)
            known = _known_checksums(self.disk, self.directory)
            paths = self.disk.entries(self.staging)
            files = {path.name: _size_and_checksum(self.disk, path, known.get(path.name)) for path in paths}
            self._write_manifest(files)
            path = self.directory / self.staging.name.removesuffix(_TAKING)
            self.disk.rename(self.staging, path)
            self.disk.sync_directory(self.directory)
            self.disk.sync_directory(self.directory.parent)  # which has not had a state in it for long
        except OSError as wrong:
            self.discard()
            raise ErrorCode.KV_STORAGE.error(
                f"The snapshot {self.staging} could not be written: {wrong.strerror}. The state is as before; the next "
                f"snapshot will try again."
            ) from wrong
        except LakewardError:
            self.discard()
            raise
        for old in _snapshot_directories(self.disk, self.directory)[KEPT:]:
            self.disk.remove_tree(old)
        facts = self.engine, self.log_offset, self.row_count, self.live_bytes, self.extra
        return Snapshot(self.disk, path, *facts, files)

    def discard(self) -> None:
        """Write nothing, leave nothing."""
        self.disk.remove_tree(self.staging)

    def _write_manifest(self, files: Mapping[str, tuple[int, int]]) -> None:
        facts = {
            "version": VERSION,
            "engine": self.engine,
            "log_offset": self.log_offset,
            "row_count": self.row_count,
            "live_bytes": self.live_bytes,
            "extra": dict(self.extra),
            "files": {name: {"bytes": size, "crc32c": crc} for name, (size, crc) in files.items()},
        }
        content = json.loads(json.dumps(facts))  # as it will be read, when the checksum is computed again
        text = json.dumps(content | {"crc32c": _checksum_of(content)}, indent=1, sort_keys=True)
        write_file(self.disk, self.staging / MANIFEST, (text.encode(),))
        self.disk.sync_directory(self.staging)


def new_staging(disk: Files, directory: Path) -> Path:
    """The place for a new snapshot's files. Leftovers of earlier ones are removed: one snapshot is taken at a time."""
    for left in disk.glob(directory, "*" + _TAKING):
        disk.remove_tree(left)
    latest = max((_id_of(p) for p in _snapshot_directories(disk, directory)), default=0)
    return directory / f"snapshot-{latest + 1:010d}{_TAKING}"


def stored_snapshots(disk: Files, directory: Path) -> list[Snapshot]:
    """The snapshots whose manifest can be read, newest first; their files are not looked at."""
    found = (_read_manifest(disk, path) for path in _snapshot_directories(disk, directory))
    return [snapshot for snapshot in found if snapshot is not None]


def newest_good_snapshot(disk: Files, directory: Path) -> Snapshot | None:
    """The newest snapshot of which every byte is as it was written. Reads all of it."""
    return next((s for s in stored_snapshots(disk, directory) if _is_good(s)), None)


def damaged_snapshots(disk: Files, directory: Path, pause: Callable[[int], None] | None = None) -> list[Path]:
    """The snapshots of which not every byte is as it was written. Reads all of them; `pause` hears how much."""
    found = ((path, _read_manifest(disk, path)) for path in _snapshot_directories(disk, directory))
    return [path for path, snapshot in found if snapshot is None or not _is_good(snapshot, pause)]


def usable_snapshot(disk: Files, directory: Path, log_start: int, log_end: int) -> Snapshot | None:
    """The newest good snapshot that the log goes on from.

    What is newer is removed: it is damaged, or it knows more than the log and would be wrong once the log goes on.
    """
    passed: list[Path] = []
    for path in _snapshot_directories(disk, directory):
        snapshot = _read_manifest(disk, path)
        if snapshot is not None and log_start <= snapshot.log_offset <= log_end and _is_good(snapshot):
            break
        passed.append(path)
    else:
        snapshot = None
    if snapshot is not None or log_start == 0:  # otherwise rows are lost, and what is left of them stays
        for path in passed:
            disk.remove_tree(path)
    return snapshot


def _is_good(snapshot: Snapshot, pause: Callable[[int], None] | None = None) -> bool:
    try:
        return all(
            _size_and_checksum(snapshot.disk, snapshot.path / name, None, size, pause) == (size, crc)
            for name, (size, crc) in snapshot.files.items()
        )
    except OSError:
        return False


def _read_manifest(disk: Files, path: Path) -> Snapshot | None:
    try:
        content = json.loads(disk.read_bytes(path / MANIFEST))
        if content.pop("crc32c") != _checksum_of(content) or content["version"] != VERSION:
            return None
        return Snapshot(
            disk=disk,
            path=path,
            engine=content["engine"],
            log_offset=content["log_offset"],
            row_count=content["row_count"],
            live_bytes=content["live_bytes"],
            extra=content["extra"],
            files={name: (facts["bytes"], facts["crc32c"]) for name, facts in content["files"].items()},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _checksum_of(content: Mapping[str, Any]) -> int:
    return checksum(json.dumps(content, sort_keys=True).encode())


def _snapshot_directories(disk: Files, directory: Path) -> list[Path]:
    """The directories that are named as snapshots, newest first."""
    if not disk.exists(directory):
        return []
    return sorted((p for p in disk.entries(directory) if _NAME.fullmatch(p.name)), key=_id_of, reverse=True)


def _id_of(path: Path) -> int:
    match = _NAME.match(path.name)
    assert match is not None, path
    return int(match[1])


def _known_checksums(disk: Files, directory: Path) -> dict[str, tuple[int, tuple[int, int]]]:
    """File name → inode, size and checksum, from the snapshot before: a file it shares with ours is not read again."""
    before = next(iter(stored_snapshots(disk, directory)), None)
    if before is None:
        return {}
    paths = {name: before.path / name for name in before.files}
    return {name: (disk.facts(p).number, before.files[name]) for name, p in paths.items() if disk.exists(p)}


def _size_and_checksum(
    disk: Files,
    path: Path,
    known: tuple[int, tuple[int, int]] | None,
    size_expected: int | None = None,
    pause: Callable[[int], None] | None = None,
) -> tuple[int, int]:
    facts = disk.facts(path)
    if known is not None and known[0] == facts.number and known[1][0] == facts.size:
        return known[1]
    if size_expected is not None and facts.size != size_expected:
        return facts.size, 0
    crc, at = 0, 0
    file = disk.open(path)
    try:
        while piece := file.pread(_READ_BYTES, at):
            crc = checksum(piece, crc)
            at += len(piece)
            if pause is not None:
                pause(len(piece))
        if size_expected is None:
            file.sync()
    finally:
        file.close()
    return facts.size, crc
