"""A change of a table → its next snapshot. Who creates the snapshot's file first has won; the other looks again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeward.lake.paimon.manifest.manifests import DELETED, FileEntry, ManifestLine, Manifests
from lakeward.lake.paimon.manifest.snapshots import PaimonSnapshot, Snapshots
from lakeward.runtime.clock import Clock
from lakeward.runtime.entropy import SystemEntropy


@dataclass(frozen=True, slots=True)
class Change:
    """Files that come and go, and the changelog that tells of it."""

    kind: str
    files: Sequence[FileEntry]
    changelog: Sequence[FileEntry] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """By how many rows the files grow."""
        return sum(-f.rows if f.kind == DELETED else f.rows for f in self.files)


class Committer:
    """Commits changes of one table as one user."""

    def __init__(self, snapshots: Snapshots, manifests: Manifests, schema_id: int, clock: Clock, user: str) -> None:
        self._snapshots = snapshots
        self._manifests = manifests
        self._schema_id = schema_id
        self._clock = clock
        self._user = user

    def commit(
        self, change: Change, properties: Mapping[str, str], check: Callable[[PaimonSnapshot | None], None]
    ) -> PaimonSnapshot:
        """The snapshot of a change, on top of the newest one that `check` does not refuse by raising."""
        while True:
            newest = self._snapshots.newest()
            check(newest)
            made = self._try(change, properties, newest)
            if made is not None:
                return made

    def commit_if_there(self, change: Change, properties: Mapping[str, str]) -> PaimonSnapshot | None:
        """The snapshot of a change, if the files that it takes away are all there; None and nothing done otherwise."""
        wanted = {f.identity for f in change.files if f.kind == DELETED}
        while True:
            newest = self._snapshots.newest()
            if newest is None or not wanted <= live_files(self._manifests, newest).keys():
                return None
            made = self._try(change, properties, newest)
            if made is not None:
                return made

    def _try(
        self, change: Change, properties: Mapping[str, str], newest: PaimonSnapshot | None
    ) -> PaimonSnapshot | None:
        before = [] if newest is None else _lines(self._manifests, newest)
        base = self._manifests.merge(before)
        delta, changelog = self._manifests.write(change.files), self._manifests.write(change.changelog)
        name = f"manifest-list-{SystemEntropy().uuid()}"
        lists = [(f"{name}-{i}", lines) for i, lines in enumerate((base, delta, changelog)) if i < 2 or lines]
        sizes = [(list_name, self._manifests.write_list(list_name, lines)) for list_name, lines in lists]
        snapshot = PaimonSnapshot(
            1 if newest is None else newest.id + 1,
            self._schema_id,
            sizes[0],
            sizes[1],
            sizes[2] if changelog else None,
            self._user,
            change.kind,
            max(self._clock.now_ms(), 0 if newest is None else newest.time_ms),
            change.rows + (0 if newest is None else newest.total_rows),
            change.rows,
            sum(f.rows for f in change.changelog),
            properties,
            {} if newest is None else newest.handed_on,
        )
        if self._snapshots.create(snapshot):
            return snapshot
        known = {line["_FILE_NAME"] for line in before}
        own = [line for line in (*base, *delta, *changelog) if line["_FILE_NAME"] not in known]
        self._manifests.discard(own, [list_name for list_name, _ in lists])
        return None


def live_files(manifests: Manifests, snapshot: PaimonSnapshot) -> dict[tuple[Any, ...], FileEntry]:
    """The data files of a snapshot, by identity."""
    return manifests.live(_lines(manifests, snapshot))


def _lines(manifests: Manifests, snapshot: PaimonSnapshot) -> list[ManifestLine]:
    return [line for name, _ in (snapshot.base_list, snapshot.delta_list) for line in manifests.read_list(name)]
