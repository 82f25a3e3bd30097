"""A data directory and the disk below it, looked at from outside: names, sizes and modes, never what is in a file."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

from lakeward.doctor.facts.machine import DirectoryFacts, DiskFacts
from lakeward.doctor.look.machine import holders_of
from lakeward.options.authentication import TLS_KEY
from lakeward.options.authorization import AUDIT_DIR
from lakeward.runtime.files.local_files import LocalFiles, space_of
from lakeward.server.access.known.users_file import USERS_FILE
from lakeward.server.grants.records.audit_file import NAME as AUDIT_FILE
from lakeward.storage.disk.directories import LOCK_FILE, RESTORING_FILE, has_metadata

_OTHERS = 0o077
_MOUNTS = Path("/proc/mounts")
#: More than this is not walked through: it would take long, and the first of them tell enough.
ENTRIES_MAX = 50_000
_LEFTOVER_MARKS = (".dropped", ".tmp", ".part", ".given-up-")
_LEFTOVERS_MAX = 20


def look_at_disk(root: Path, mounts: Path = _MOUNTS) -> DiskFacts:
    """The file system that a directory is on."""
    found = os.statvfs(root)
    free_bytes, total_bytes = space_of(found)
    return DiskFacts(
        str(root),
        total_bytes=total_bytes,
        free_bytes=free_bytes,
        inodes=found.f_files,
        inodes_free=found.f_favail,
        is_read_only=bool(found.f_flag & os.ST_RDONLY),
        kind=_kind_of(root, mounts),
    )


def look_at_directory(root: Path, options: Mapping[str, str]) -> DirectoryFacts:
    """A data directory; options of the server name the files that hold its secrets."""
    lock = root / LOCK_FILE
    seen = root.stat()
    logs = segments = size = 0
    leftovers: list[str] = []
    for path, facts in islice(entries(root), ENTRIES_MAX):
        is_directory = stat.S_ISDIR(facts.st_mode)
        logs += is_directory and path.name.startswith("log-")
        segments += path.suffix == ".log"
        size += 0 if is_directory else facts.st_size
        if any(mark in path.name for mark in _LEFTOVER_MARKS) and len(leftovers) < _LEFTOVERS_MAX:
            leftovers.append(str(path.relative_to(root)))
    return DirectoryFacts(
        str(root),
        is_data_directory=has_metadata(LocalFiles(), root),
        mode=stat.S_IMODE(seen.st_mode),
        owner=seen.st_uid,
        looker=os.geteuid(),
        is_readable=os.access(root, os.R_OK | os.X_OK),
        is_writable=os.access(root, os.W_OK),
        holders=holders_of(lock),
        seen_ms=lock.stat().st_mtime_ns // 1_000_000 if lock.exists() else None,
        is_being_restored=(root / RESTORING_FILE).exists(),
        leftovers=tuple(leftovers),
        open_secrets=tuple(_open_secrets(root, options)),
        buckets=logs,
        segments=segments,
        bytes=size,
    )


def entries(root: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Everything below a directory, in order, with what the system knows of it, but for what goes away meanwhile."""
    try:
        paths = sorted(root.iterdir())
    except OSError:
        return
    for path in paths:
        try:
            facts = path.lstat()
        except OSError:
            continue
        yield path, facts
        if stat.S_ISDIR(facts.st_mode):
            yield from entries(path)


def _open_secrets(root: Path, options: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Files with secrets that others than their owner may read."""
    keys = [Path(options[TLS_KEY.key])] if TLS_KEY.key in options else []
    audit = Path(options.get(AUDIT_DIR.key) or root) / AUDIT_FILE
    for path in (*keys, root / USERS_FILE, audit):
        with contextlib.suppress(OSError):
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & _OTHERS:
                yield str(path), mode


def _kind_of(root: Path, mounts: Path) -> str:
    """The kind of file system, by the longest mount point above a directory."""
    try:
        lines = [line.split(" ") for line in mounts.read_text(errors="replace").splitlines()]
    except OSError:
        return ""
    place = root.resolve()
    above = [words for words in lines if len(words) > 2 and place.is_relative_to(words[1])]
    return max(above, key=lambda words: len(words[1]))[2] if above else ""
