"""OffsetsFiles: the documents of offsets on disk, `<root>/lake/<db>/<table>-<id>/metadata/<uuid>.offsets`.

A file is whole or not there, and never changed once it is. Clients name files back to the server; only those in the
table's own directory are ever read or deleted.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TableInfo
from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import make_lasting_directory, replace_file
from lakeward.server.books.bucket_offsets import BucketOffsets, offsets_of_json, offsets_to_json

SUFFIX = ".offsets"
_LAKE = "lake"
_METADATA = "metadata"


class OffsetsFiles:
    """Where the documents of all tables are."""

    def __init__(self, disk: Files, root_of: Callable[[TableInfo], Path], entropy: Entropy) -> None:
        self._disk = disk
        self._root_of = root_of
        self._entropy = entropy

    def directory(self, table: TableInfo) -> Path:
        """Where the documents of a table are."""
        name = f"{table.path.table}-{table.table_id}"
        return self._root_of(table).absolute() / _LAKE / table.path.database / name / _METADATA

    def write(self, table: TableInfo, offsets: BucketOffsets) -> str:
        """A new document, on disk before this returns; its path."""
        path = self.directory(table) / f"{self._entropy.uuid()}{SUFFIX}"
        content = offsets_to_json(table.table_id, offsets, partitioned=table.descriptor.is_partitioned)
        try:
            make_lasting_directory(self._disk, path.parent)
            replace_file(self._disk, path, content)
        except OSError as wrong:
            raise ErrorCode.STORAGE.error(f"The offsets file {path} cannot be written: {wrong.strerror}.") from wrong
        return str(path)

    def read(self, table: TableInfo, path: str) -> dict[TableBucket, int]:
        """The offsets in a document that this server wrote for the table."""
        try:
            return offsets_of_json(self._disk.read_bytes(Path(path)), table.table_id)
        except OSError as wrong:
            raise ErrorCode.STORAGE.error(
                f"The offsets file {path} of table {table.path} cannot be read: {wrong.strerror}."
            ) from wrong
        except ValueError as wrong:
            raise ErrorCode.STORAGE.error(
                f"The offsets file {path} of table {table.path} is damaged: {wrong}."
            ) from wrong

    def check_own(self, table: TableInfo, path: str) -> None:
        """Refuse a path that is not of a document of this table."""
        named = Path(path)
        if named.parent != self.directory(table) or named.suffix != SUFFIX:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"'{path[:400]}' is not an offsets file of table {table.path}; prepare the snapshot first and hand"
                " back the path it answers with."
            )

    def delete(self, table: TableInfo, paths: Iterable[str]) -> None:
        """Delete documents of a table; those of elsewhere are left alone."""
        directory = self.directory(table)
        for path in map(Path, paths):
            if path.parent == directory:
                self._disk.unlink(path)

    def sweep(self, table: TableInfo, keep: Collection[str], before_ms: int) -> None:
        """Delete documents that no snapshot ever used, if they are older than a time."""
        for path in self._disk.glob(self.directory(table), f"*{SUFFIX}"):
            if str(path) not in keep and self._disk.facts(path).modified_ns < before_ms * 1_000_000:
                self._disk.unlink(path)

    def remove(self, table: TableInfo) -> None:
        """Delete all documents of a table that was dropped."""
        directory = self.directory(table)
        for path in self._disk.glob(directory, f"*{SUFFIX}*"):
            self._disk.unlink(path)
        with contextlib.suppress(OSError):  # not there, or something in it is not ours
            self._disk.remove_directory(directory)
            self._disk.remove_directory(directory.parent)
