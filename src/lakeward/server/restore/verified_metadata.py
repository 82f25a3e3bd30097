"""The files that say which tables there are, all of them read: what is damaged. Changes nothing."""

from __future__ import annotations

from pathlib import Path

from lakeward.runtime.files.port import Files
from lakeward.server.metadata_store.files import MetadataFiles
from lakeward.server.metadata_store.image import DamagedError, Image
from lakeward.storage.disk.directories import METADATA_FILE

_MENDED = "the server mends it from its copies when it starts"
_LOST = "`lakeward metadata repair` puts the newest state back that is whole"


def verify_metadata(disk: Files, root: Path) -> list[tuple[Path, str]]:
    """Files and what is wrong with them. What is found twice is true: a server may be writing."""
    first = _look(disk, root)
    return [one for one in first if one in _look(disk, root)] if first else []


def _look(disk: Files, root: Path) -> list[tuple[Path, str]]:
    files = MetadataFiles(disk, root / METADATA_FILE)
    state = files.find()
    remedy = _MENDED if state.is_complete else _LOST
    found: dict[Path, str] = {}
    for trouble in state.troubles:
        name, _, why = trouble.partition(": ")
        found[root / name] = f"{why}; {remedy}"
    for path in disk.glob(files.copies, "*.db"):
        try:
            Image.of(disk.read_bytes(path))
        except FileNotFoundError:
            continue  # pruned meanwhile
        except (DamagedError, OSError) as wrong:
            found[path] = f"{wrong}; {remedy}"
    return list(found.items())
