"""Manifests that were read before. They never change, so what is kept is never stale; how much is kept is bounded."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from lakeward.lake.iceberg.read.manifest_entries import ManifestEntry

#: Files that all manifests together may hold; one costs about two kilobytes.
_FILES_MAX = 50_000


class ManifestCache:
    """The live data and delete files of manifests, by the manifest's path; the least used leave first."""

    def __init__(self, files_max: int = _FILES_MAX) -> None:
        self._files_max = files_max
        self._known: OrderedDict[str, tuple[ManifestEntry, ...]] = OrderedDict()
        self._files = 0
        self._lock = Lock()

    def files(self, path: str, read: Callable[[], tuple[ManifestEntry, ...]]) -> tuple[ManifestEntry, ...]:
        """The files that a manifest has added or kept."""
        with self._lock:
            found = self._known.get(path)
            if found is not None:
                self._known.move_to_end(path)
                return found
        found = read()
        with self._lock:
            if path not in self._known and len(found) <= self._files_max:
                self._known[path] = found
                self._files += len(found)
            while self._files > self._files_max:
                _, gone = self._known.popitem(last=False)
                self._files -= len(gone)
        return found
