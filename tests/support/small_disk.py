"""A file system of a few megabytes, to be filled in earnest."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

_BYTES = 24 << 20


class SmallDisk:
    """Where it is mounted, and how to leave no room on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._ballast = path / "ballast"

    def fill(self, *, but_bytes: int = 0) -> None:
        """Take every byte that is left, or all but a few."""
        with self._ballast.open("ab", buffering=0) as file:
            for piece in (1 << 20, 4096, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(piece)):
                        pass
            file.truncate(file.tell() - but_bytes)

    def make_room(self) -> None:
        """Give it back."""
        self._ballast.unlink()


@contextlib.contextmanager
def small_disk(path: Path) -> Iterator[SmallDisk]:
    """A file system in memory, mounted there for the time being; skips where mounting is not allowed."""
    if shutil.which("mount") is None:
        pytest.skip("there is no mount command for a small file system")
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_BYTES}", "lakeward-test", str(path)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small file system cannot be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)
