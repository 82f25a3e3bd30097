"""Manifests that were read before are not read again, within bounds."""

from __future__ import annotations

from typing import Any

from lakeward.lake.iceberg.read.manifest_cache import ManifestCache


class Manifest:
    """A manifest with so many files, which counts how often it is read."""

    def __init__(self, path: str, files: int) -> None:
        self.path = path
        self.reads = 0
        self._files = files

    def read(self) -> tuple[Any, ...]:
        """Its entries."""
        self.reads += 1
        return tuple(f"{self.path}/{n}" for n in range(self._files))


def test_what_is_known_is_not_read_again() -> None:
    """The same files come back."""
    cache, manifest = ManifestCache(10), Manifest("a", 3)
    first, second = (cache.files(manifest.path, manifest.read) for _ in range(2))
    assert first == second == ("a/0", "a/1", "a/2")
    assert manifest.reads == 1


def test_the_least_used_leaves_first() -> None:
    """Files are counted, not manifests; one that is too large is never kept."""
    cache = ManifestCache(10)
    a, b, c, huge = Manifest("a", 4), Manifest("b", 4), Manifest("c", 4), Manifest("huge", 11)
    for manifest in (a, b, a, c, huge, a, c, huge, b):
        cache.files(manifest.path, manifest.read)
    assert (a.reads, b.reads, c.reads, huge.reads) == (1, 2, 1, 2)
