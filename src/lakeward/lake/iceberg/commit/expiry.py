"""Old snapshots expire, and the files that only they need; files that no snapshot knows are found.

pyiceberg drops snapshots from the metadata and leaves their files; deleting those is done here, after the commit, so
that a crash leaves orphans (found by `orphans`) and never a hole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import urlparse

from pyarrow.fs import FileSelector, FileSystem, FileType
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import PyArrowFileIO
from pyiceberg.table import Table
from pyiceberg.table.snapshots import Snapshot

from lakeward.lake.iceberg.commit.round_snapshot import history
from lakeward.lake.round_properties import is_tiering_round

_MAX_AGE = ("history.expire.max-snapshot-age-ms", 5 * 86_400_000)
_MIN_KEPT = ("history.expire.min-snapshots-to-keep", 1)
#: Files that our writers and pyiceberg name; anything else in the table's folder is not ours to delete.
_OUR_NAMES = re.compile(
    r"(\d{5}-[0-9a-f-]{36}(-deletes)?\.parquet|[0-9a-f-]{36}-m\d+\.avro|snap-\d+-\d+-[0-9a-f-]{36}\.avro)$"
)


@dataclass(frozen=True, slots=True)
class ExpiryResult:
    """What an expiry removed."""

    snapshots: int
    files: int


def expire(table: Table, now_ms: int, keep: Iterable[int] = ()) -> ExpiryResult:
    """Expire snapshots as the table's `history.expire.*` properties say; `keep` are snapshots that readers use."""
    table.refresh()
    going = _too_old(table, now_ms, set(keep))
    if not going:
        return ExpiryResult(0, 0)
    candidates = {path for snapshot in going for path in _files(snapshot, table.io)}
    with table.maintenance.expire_snapshots().by_ids([s.snapshot_id for s in going]):
        pass  # leaving the context commits
    table.refresh()
    needed = {path for snapshot in table.snapshots() for path in _files(snapshot, table.io)}
    for path in candidates - needed:
        table.io.delete(path)
    return ExpiryResult(len(going), len(candidates - needed))


def _too_old(table: Table, now_ms: int, keep: set[int]) -> list[Snapshot]:
    properties = table.properties
    oldest_ms = now_ms - int(properties.get(*_MAX_AGE))
    kept = int(properties.get(*_MIN_KEPT))
    by_age = sorted(table.snapshots(), key=lambda s: s.timestamp_ms, reverse=True)
    protected = keep | {ref.snapshot_id for ref in table.metadata.refs.values()} | _since_newest_round(table)
    return [s for s in by_age[kept:] if s.timestamp_ms < oldest_ms and s.snapshot_id not in protected]


def _since_newest_round(table: Table) -> set[int]:
    """The newest round tells what the lake holds; it is found by way of the snapshots that came after it."""
    found = set()
    for snapshot in history(table.metadata, table.metadata.current_snapshot_id):
        found.add(snapshot.snapshot_id)
        if snapshot.summary is not None and is_tiering_round(snapshot.summary.additional_properties):
            break
    return found


def _files(snapshot: Snapshot, io: FileIO) -> Iterator[str]:
    """Everything a reader of this snapshot opens."""
    yield snapshot.manifest_list
    for manifest in snapshot.manifests(io):
        yield manifest.manifest_path
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
            yield entry.data_file.file_path


def orphans(table: Table, older_than_ms: int) -> list[str]:
    """Files of ours in the table's folder, last changed before that time, that no snapshot knows."""
    table.refresh()
    known = {_plain(path) for snapshot in table.snapshots() for path in _files(snapshot, table.io)}
    fs, root = _file_system(table)
    found = fs.get_file_info(FileSelector(root, recursive=True, allow_not_found=True))
    scheme = urlparse(table.location()).scheme
    prefix = "" if scheme in {"", "file"} else f"{scheme}://"
    return [
        prefix + info.path
        for info in found
        if info.type == FileType.File
        and _OUR_NAMES.search(info.path)
        and info.mtime_ns is not None
        and info.mtime_ns // 1_000_000 < older_than_ms
        and info.path not in known
    ]


def _file_system(table: Table) -> tuple[FileSystem, str]:
    """The table's folder, reached as its files are."""
    parsed = urlparse(table.location())
    if parsed.scheme not in {"", "file"} and isinstance(table.io, PyArrowFileIO):
        return table.io.fs_by_scheme(parsed.scheme, parsed.netloc), f"{parsed.netloc}{parsed.path}"
    return FileSystem.from_uri(table.location())  # type: ignore[no-any-return]


def _plain(path: str) -> str:
    """A path as the file system lists it."""
    parsed = urlparse(path)
    return parsed.path if parsed.scheme in {"", "file"} else f"{parsed.netloc}{parsed.path}"
