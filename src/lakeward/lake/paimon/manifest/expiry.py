"""Old snapshots expire, and the files that only they need; files that no snapshot knows are found.

Snapshots go before their files, so that a crash leaves orphans (found by `orphans`) and never a hole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lakeward.lake.files.s3_path import LakePath, modified_ms
from lakeward.lake.paimon.manifest.manifests import ADDED, DIRECTORY, FileEntry, ManifestLine, Manifests
from lakeward.lake.paimon.manifest.snapshots import PaimonSnapshot, Snapshots
from lakeward.lake.paimon.schema.binary_row import of_binary
from lakeward.lake.paimon.schema.place_directory import place_directory
from lakeward.lake.paimon.schema.shape import TableShape
from lakeward.options.kinds import DURATION

_MIN_KEPT = ("snapshot.num-retained.min", "10")
_MAX_AGE = ("snapshot.time-retained", "1 h")
#: A table with these keeps files for longer than its snapshots; that is left to Paimon's own expiry.
_LONGER = ("changelog.num-retained.min", "changelog.num-retained.max", "changelog.time-retained")
_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_OUR_NAMES = re.compile(
    rf"(bucket-\d+/(data|changelog)-{_UUID}-\d+\.parquet|manifest/manifest-(list-)?{_UUID}-\d+|/\.[^/]+\.{_UUID}\.tmp)$"
)


@dataclass(frozen=True, slots=True)
class ExpiryResult:
    """What an expiry removed."""

    snapshots: int
    files: int


def expire(shape: TableShape, now_ms: int, keep: Iterable[int] = ()) -> ExpiryResult:
    """Expire snapshots as the table's `snapshot.*-retained` options say; `keep` are snapshots that readers use."""
    table = shape.path
    snapshots = Snapshots(table)
    going = _too_old(table, shape, snapshots, now_ms, set(keep))
    if not going:
        return ExpiryResult(0, 0)
    files = _Files(table, shape)
    candidates = {path for snapshot in going for path in files.of(snapshot)}
    last = going[-1].id
    kept = [s for s in map(snapshots.read, snapshots.numbers()) if s is not None and s.id > last]
    needed = {path for snapshot in (*kept, *snapshots.all_with_tag()) for path in files.of(snapshot)}
    snapshots.forget([s.id for s in going])
    for path in candidates - needed:
        path.unlink(missing_ok=True)
    return ExpiryResult(len(going), len(candidates - needed))


def orphans(table: LakePath, older_than_ms: int) -> list[LakePath]:
    """Files of ours in the table's folder, last changed before that time, that no snapshot knows."""
    snapshots, files = Snapshots(table), _Files(table, None)
    all_known = [s for s in map(snapshots.read, snapshots.numbers()) if s is not None]
    known = {path.name for snapshot in (*all_known, *snapshots.all_with_tag()) for path in files.of(snapshot)}
    there: list[LakePath] = [*table.rglob("*")]
    return [
        path
        for path in sorted(there, key=str)
        if _OUR_NAMES.search(path.as_posix()) and path.name not in known and modified_ms(path) < older_than_ms
    ]


def _too_old(
    table: LakePath, shape: TableShape, snapshots: Snapshots, now_ms: int, keep: set[int]
) -> list[PaimonSnapshot]:
    """The oldest snapshots, without a gap, up to the first that somebody needs."""
    if (table / "branch").exists() or any(option in shape.options for option in _LONGER):
        return []
    oldest_ms = now_ms - DURATION.parse(shape.options.get(*_MAX_AGE))
    kept_min = max(int(shape.options.get(*_MIN_KEPT)), 1)
    consumed = [json.loads(path.read_text())["nextSnapshot"] for path in (table / "consumer").glob("consumer-*")]
    numbers = sorted(snapshots.numbers())[:-kept_min]
    going: list[PaimonSnapshot] = []
    for snapshot in map(snapshots.read, numbers):
        if snapshot is None or snapshot.time_ms >= oldest_ms or snapshot.id >= min([*keep, *consumed], default=2**63):
            break
        going.append(snapshot)
    return going


class _Files:
    """Everything that readers of a snapshot open; without a shape, data files by name alone.

    Manifests are read once, however many snapshots share them.
    """

    def __init__(self, table: LakePath, shape: TableShape | None) -> None:
        self._shape = shape
        self._partition_types = [] if shape is None else shape.types_of(shape.partition_keys)
        self._directory = table / DIRECTORY
        self._manifests = Manifests(table, self._partition_types, 0)
        self._known: dict[str, list[FileEntry]] = {}

    def of(self, snapshot: PaimonSnapshot) -> Iterator[LakePath]:
        """Lists, manifests, data files and changelog files."""
        lists = [snapshot.base_list[0], snapshot.delta_list[0]]
        lines = [line for name in lists for line in self._manifests.read_list(name)]
        if snapshot.changelog_list is not None:
            lists.append(snapshot.changelog_list[0])
            lines += self._manifests.read_list(snapshot.changelog_list[0])
        yield from (self._directory / name for name in lists)
        live: dict[LakePath, int] = {}
        for line in lines:
            yield self._directory / line["_FILE_NAME"]
            for entry in self._entries(line):
                for name in (entry.name, *entry.file["_EXTRA_FILES"]):
                    path = self._path(entry, name)
                    live[path] = live.get(path, 0) + (1 if entry.kind == ADDED else -1)
        yield from (path for path, times in live.items() if times > 0)

    def _entries(self, line: ManifestLine) -> list[FileEntry]:
        name = line["_FILE_NAME"]
        if name not in self._known:
            self._known[name] = list(self._manifests.entries([line]))
        return self._known[name]

    def _path(self, entry: FileEntry, name: str) -> LakePath:
        if self._shape is None:
            return Path(name)
        values = of_binary(self._partition_types, entry.partition)
        return place_directory(self._shape, values, entry.bucket) / name
