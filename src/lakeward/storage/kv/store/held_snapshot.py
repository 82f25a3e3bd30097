"""HeldSnapshot: a snapshot that stays as long as somebody copies it, whatever newer ones come meanwhile.

Its files are linked to another directory, `held-<id>`; what a crash leaves of those is removed at the next start.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from lakeward.storage.disk.open_files import storage_error
from lakeward.storage.kv.store.snapshots import MANIFEST, Snapshot, stored_snapshots

_HELD = "held-"


class HeldSnapshot:
    """A snapshot's files under names of their own."""

    def __init__(self, snapshot: Snapshot) -> None:
        directory = snapshot.path.with_name(f"{_HELD}{snapshot.id:010d}")
        try:
            directory.mkdir(exist_ok=True)
            for name in (*snapshot.files, MANIFEST):
                if not (directory / name).exists():
                    os.link(snapshot.path / name, directory / name)
        except OSError as wrong:
            shutil.rmtree(directory, ignore_errors=True)
            raise storage_error(snapshot.path, wrong) from wrong
        self.id = snapshot.id
        self.snapshot = replace(snapshot, path=directory)

    def release(self) -> None:
        """Nobody needs it any more."""
        shutil.rmtree(self.snapshot.path, ignore_errors=True)


def hold_newest(directory: Path, above_offset: int) -> HeldSnapshot | None:
    """The newest snapshot of a bucket if it knows more than an offset; leftovers of earlier holds are removed."""
    if not directory.exists():
        return None
    for left in directory.glob(f"{_HELD}*"):
        shutil.rmtree(left, ignore_errors=True)
    newest = next(iter(stored_snapshots(directory)), None)
    return HeldSnapshot(newest) if newest is not None and newest.log_offset > above_offset else None
