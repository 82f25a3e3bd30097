"""NowArea: where the files lie that make a table what it is now, `<location of the table>/now/<who wrote them>`.

They are below the table's own folder, so that whoever may read the table may read them, and beside what is committed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pyiceberg.io import FileIO

from lakeward.lake.files.s3_path import S3Path, is_s3, lake_path
from lakeward.lake.files.s3_properties import store_settings
from lakeward.lake.iceberg.read.lake_files import is_local, local_path
from lakeward.runtime.entropy import Entropy

FOLDER = "now"


@dataclass(frozen=True, slots=True)
class NowArea:
    """A folder of one table and of one writer."""

    table_location: str
    writer: str
    io: FileIO

    @property
    def location(self) -> str:
        """The writer's folder."""
        return f"{self.table_location.rstrip('/')}/{FOLDER}/{self.writer}"

    def new_path(self, entropy: Entropy, ending: str) -> str:
        """A name for a new file of metadata."""
        return f"{self.location}/metadata/{entropy.uuid()}{ending}"

    def remove(self, paths: Iterable[str]) -> None:
        """Delete files, and the folders that become empty by it; what is gone already is fine."""
        if is_s3(self.table_location):
            self._remove_objects(list(paths))
            return
        for path in paths:
            with suppress(FileNotFoundError):
                self.io.delete(path)
            if is_local(path):
                _remove_empty(local_path(path).parent, local_path(f"{self.table_location.rstrip('/')}"))

    def _remove_objects(self, paths: Sequence[str]) -> None:
        """All at once, and past pyarrow: it puts an empty object where a folder was."""
        settings = store_settings(self.io.properties)
        found = [path for path in (lake_path(text, settings) for text in paths) if isinstance(path, S3Path)]
        if found:
            found[0].store.delete([path.key for path in found])

    def older_than(self, time_ms: int) -> list[str]:
        """Files of any writer, last changed before that time."""
        folder = f"{self.table_location.rstrip('/')}/{FOLDER}"
        if is_local(folder):
            found = [path for path in local_path(folder).rglob("*") if path.is_file()]
            return [str(path) for path in found if _modified_ms(path) < time_ms]
        if not is_s3(folder):
            return []
        listed = lake_path(folder, store_settings(self.io.properties)).rglob("*")
        return [str(path) for path in listed if (getattr(path, "modified_ms", None) or time_ms) < time_ms]


def _modified_ms(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:  # somebody else has removed it
        return 1 << 62


def _remove_empty(folder: Path, root: Path) -> None:
    while folder != root and root in folder.parents:
        try:
            folder.rmdir()
        except OSError:  # not empty
            return
        folder = folder.parent
