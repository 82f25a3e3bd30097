"""Metadata that lacks what was acknowledged: the newest state that is whole becomes the truth."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.port import Files
from lakeward.server.metadata_store.files import MetadataFiles, ProvenState
from lakeward.server.metadata_store.opening import fill, strays_of
from lakeward.server.metadata_store.port import Counter
from lakeward.server.metadata_store.sqlite_store import SqliteMetadataStore
from lakeward.server.restore.restored_metadata import skip_ids
from lakeward.storage.disk.directories import DataDirectory


@dataclass
class RepairedMetadata:
    """What a repair found and did."""

    reached: int = 0
    end: int = 0
    troubles: list[str] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)
    #: Directories of tables that are in no state that could be read; nothing will use them.
    strays: list[str] = field(default_factory=list)

    @property
    def was_whole(self) -> bool:
        """Whether there was nothing to give up."""
        return self.reached >= self.end and not self.strays


def repair_metadata(
    disk: Files, entropy: Entropy, data_dir: Path, told: Callable[[RepairedMetadata], bool]
) -> RepairedMetadata:
    """Go back to the newest whole state, if `told` agrees once it knows which; ids given out since are skipped."""
    report = RepairedMetadata()
    with DataDirectory(disk, data_dir) as directory:
        files = MetadataFiles(disk, directory.metadata_file)
        found = files.find()
        if found.image is None and not found.is_unsealed:
            raise files.refusal("there is no copy of it that can be read", found)
        report.reached, report.end, report.troubles = (
            found.last_change,
            max(found.end, found.last_change),
            found.troubles,
        )

        def fill_and_ask(files: MetadataFiles, found: ProvenState, connection: sqlite3.Connection) -> None:
            fill(files, found, connection)
            report.tables = [f"{row[0]}.{row[1]}" for row in connection.execute("SELECT database, name FROM tables")]
            report.strays = [str(path.relative_to(files.image.parent)) for path in strays_of(files, connection)]
            if not told(report):
                raise _StoppedError

        try:
            store = SqliteMetadataStore(disk, entropy, directory.metadata_file, fill_and_ask)
        except _StoppedError:
            return report
        try:
            _skip(store, report)
        finally:
            store.close()
    return report


class _StoppedError(Exception):
    """The repair is not wanted."""


def _skip(store: SqliteMetadataStore, report: RepairedMetadata) -> None:
    if report.was_whole:
        return
    with store.change() as change:
        skip_ids(store, change)
    count = 1000
    while store.strays():
        count *= 2
        with store.change() as change:
            change.take(Counter.TABLE_ID, count)
            change.take(Counter.PARTITION_ID, count)
