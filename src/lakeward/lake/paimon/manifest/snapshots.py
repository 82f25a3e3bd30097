"""snapshot-N: what a table holds. Read from its directory; a number belongs to whoever creates its file first."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.schema.format_version import PaimonFile

_DIRECTORY, _PREFIX, _NEWEST, _OLDEST = "snapshot", "snapshot-", "LATEST", "EARLIEST"
_TAGS, _TAG_PREFIX = "tag", "tag-"
#: The tag on the newest round: what it says outlives its snapshot, whoever else writes to the table and expires.
ROUND_TAG = "lakeward-tiering"
#: The number Paimon gives to commits that are not numbered by their writer; Apache Fluss's tiering commits so.
_UNNUMBERED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class PaimonSnapshot:
    """One state of a table, and what led to it."""

    id: int
    schema_id: int
    base_list: tuple[str, int | None]
    delta_list: tuple[str, int | None]
    changelog_list: tuple[str, int | None] | None
    user: str
    kind: str
    time_ms: int
    total_rows: int
    delta_rows: int
    changelog_rows: int
    properties: Mapping[str, str]
    #: What we do not look into but hand on: index manifest, watermark, statistics, next row id.
    handed_on: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The text of the file."""
        changelog = self.changelog_list or (None, None)
        document = {
            "version": PaimonFile.SNAPSHOT.written,
            "id": self.id,
            "schemaId": self.schema_id,
            "baseManifestList": self.base_list[0],
            "baseManifestListSize": self.base_list[1],
            "deltaManifestList": self.delta_list[0],
            "deltaManifestListSize": self.delta_list[1],
            "changelogManifestList": changelog[0],
            "changelogManifestListSize": changelog[1],
            "commitUser": self.user,
            "commitIdentifier": _UNNUMBERED,
            "commitKind": self.kind,
            "timeMillis": self.time_ms,
            "logOffsets": {},
            "totalRecordCount": self.total_rows,
            "deltaRecordCount": self.delta_rows,
            "changelogRecordCount": self.changelog_rows,
            "properties": dict(self.properties),
            **self.handed_on,
        }
        return json.dumps({k: v for k, v in document.items() if v is not None}, indent=2)

    @classmethod
    def read(cls, path: LakePath) -> PaimonSnapshot:
        """Back from a file; a version that is not read here is refused."""
        found = json.loads(path.read_text())
        PaimonFile.SNAPSHOT.check(found.get("version", 1), path)
        changelog = found.get("changelogManifestList")
        return cls(
            found["id"],
            found["schemaId"],
            (found["baseManifestList"], found.get("baseManifestListSize")),
            (found["deltaManifestList"], found.get("deltaManifestListSize")),
            None if changelog is None else (changelog, found.get("changelogManifestListSize")),
            found["commitUser"],
            found["commitKind"],
            found["timeMillis"],
            found.get("totalRecordCount") or 0,
            found.get("deltaRecordCount") or 0,
            found.get("changelogRecordCount") or 0,
            found.get("properties") or {},
            {
                k: found[k]
                for k in ("indexManifest", "watermark", "statistics", "nextRowId")
                if found.get(k) is not None
            },
        )


class Snapshots:
    """The snapshot directory of a table."""

    def __init__(self, table: LakePath) -> None:
        self._directory = table / _DIRECTORY
        self._tags = table / _TAGS

    def newest(self) -> PaimonSnapshot | None:
        """The newest snapshot; the hint may be behind, and is only where the search begins."""
        number = self._hint() or max(self.numbers(), default=0)
        while self._path(number + 1).is_file():
            number += 1
        return self.read(number) if number else None

    def back_from(self, snapshot: PaimonSnapshot | None) -> Iterator[PaimonSnapshot]:
        """This snapshot and those before it, as far back as they are kept."""
        while snapshot is not None:
            yield snapshot
            snapshot = self.read(snapshot.id - 1)

    def read(self, number: int) -> PaimonSnapshot | None:
        """The snapshot of that number, if it is kept."""
        try:
            return PaimonSnapshot.read(self._path(number))
        except FileNotFoundError:
            return None

    def create(self, snapshot: PaimonSnapshot) -> bool:
        """Make a snapshot visible; False if its number was taken by somebody else."""
        if not whole_files.create(self._path(snapshot.id), snapshot.to_json().encode()):
            return False
        whole_files.replace(self._directory / _NEWEST, str(snapshot.id).encode())
        return True

    def tag(self, name: str, snapshot: PaimonSnapshot) -> None:
        """Keep a snapshot from being forgotten by whoever expires old ones."""
        self._tags.mkdir(exist_ok=True)
        whole_files.replace(self._tags / f"{_TAG_PREFIX}{name}", snapshot.to_json().encode())

    def with_tag(self, name: str) -> PaimonSnapshot | None:
        """The snapshot with that tag."""
        try:
            return PaimonSnapshot.read(self._tags / f"{_TAG_PREFIX}{name}")
        except FileNotFoundError:
            return None

    def all_with_tag(self) -> list[PaimonSnapshot]:
        """Snapshots with a tag, whoever set it."""
        return list(self.tags().values())

    def tags(self) -> dict[str, PaimonSnapshot]:
        """All tags by name."""
        paths = {path.name.removeprefix(_TAG_PREFIX): path for path in self._tags.glob(f"{_TAG_PREFIX}*")}
        return {name: PaimonSnapshot.read(path) for name, path in paths.items()}

    def forget(self, numbers: Sequence[int]) -> None:
        """Remove the oldest snapshots; their files are removed by who knows that nobody needs them."""
        whole_files.replace(self._directory / _OLDEST, str(max(numbers) + 1).encode())
        for number in sorted(numbers):
            self._path(number).unlink(missing_ok=True)

    def numbers(self) -> list[int]:
        """The numbers of the snapshots that are kept."""
        return [int(p.name.removeprefix(_PREFIX)) for p in self._directory.glob(f"{_PREFIX}*")]

    def _hint(self) -> int | None:
        try:
            number = int((self._directory / _NEWEST).read_text())
        except (FileNotFoundError, ValueError):
            return None
        return number if self._path(number).is_file() else None

    def _path(self, number: int) -> LakePath:
        return self._directory / f"{_PREFIX}{number}"
