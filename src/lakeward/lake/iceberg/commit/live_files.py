"""Which files of a snapshot are live, partition by partition."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from pyiceberg.io import FileIO
from pyiceberg.manifest import DataFile, DataFileContent
from pyiceberg.table.snapshots import Snapshot
from pyiceberg.typedef import Record


@dataclass(slots=True)
class LiveFiles:
    """The files of one partition. Deletes of Apache Fluss are by equality; ours are by position."""

    data: list[DataFile] = field(default_factory=list)
    position_deletes: list[DataFile] = field(default_factory=list)
    equality_deletes: list[DataFile] = field(default_factory=list)


def live_files(snapshot: Snapshot | None, io: FileIO) -> dict[tuple[Any, ...], LiveFiles]:
    """The live files of a snapshot by their partition's values, with all that is known of them, for who commits."""
    found: dict[tuple[Any, ...], LiveFiles] = defaultdict(LiveFiles)
    if snapshot is None:
        return found
    for manifest in snapshot.manifests(io):
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True):
            file = entry.data_file
            files = found[values_of(file.partition)]
            match file.content:
                case DataFileContent.DATA:
                    files.data.append(file)
                case DataFileContent.POSITION_DELETES:
                    files.position_deletes.append(file)
                case _:
                    files.equality_deletes.append(file)
    return found


def live_paths(snapshot: Snapshot | None, io: FileIO) -> set[str]:
    """The paths of all live files of a snapshot, data and deletes."""
    if snapshot is None:
        return set()
    return {
        entry.data_file.file_path
        for manifest in snapshot.manifests(io)
        for entry in manifest.fetch_manifest_entry(io, discard_deleted=True)
    }


def values_of(partition: Record) -> tuple[Any, ...]:
    """The values of a partition, fit for a dictionary."""
    return tuple(partition[i] for i in range(len(partition)))
