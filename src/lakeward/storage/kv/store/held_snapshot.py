"""HeldSnapshot: a snapshot that stays as long as somebody copies it, whatever newer ones come meanwhile.

Its files are linked to another directory, `held-<id>`; what a crash leaves of those is removed at the next start.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lakeward.runtime.files.port import Files
from lakeward.storage.disk.open_files import storage_error
from lakeward.storage.kv.store.snapshots import MANIFEST, Snapshot, stored_snapshots

_HELD = "held-"


class HeldSnapshot:
    """A snapshot's files under names of their own."""

    def __init__(self, snapshot: Snapshot) -> None:
        disk = snapshot.disk
        directory = snapshot.path.with_name(f"{_HELD}{snapshot.id:010d}")
        try:
            disk.make_directory(directory)
            for name in (*snapshot.files, MANIFEST):
                if not disk.exists(directory / name):
                    disk.link(snapshot.path / name, directory / name)
        except OSError as wrong:
            disk.remove_tree(directory)
            raise storage_error(snapshot.path, wrong) from wrong
        self.id = snapshot.id
        self.snapshot = replace(snapshot, path=directory)

    def release(self) -> None:
        """Nobody needs it any more."""
        self.snapshot.disk.remove_tree(self.snapshot.path)


def hold_newest(disk: Files, directory: Path, above_offset: int) -> HeldSnapshot | None:
    """The newest snapshot of a bucket if it knows more than an offset; leftovers of earlier holds are removed."""
    if not disk.exists(directory):
        return None
    for left in disk.glob(directory, f"{_HELD}*"):
        disk.remove_tree(left)
    newest = next(iter(stored_snapshots(disk, directory)), None)
    return HeldSnapshot(newest) if newest is not None and newest.log_offset > above_offset else None
