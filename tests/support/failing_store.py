"""A store in a directory that fails when a test wants it to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lakeward.errors import ErrorCode
from lakeward.remote.stores.directory_store import DirectoryStore


class FailingStore(DirectoryStore):
    """Fails on operations for which `fails(operation, path)` holds; counts what was asked."""

    def __init__(self, root: Path) -> None:
        super().__init__(str(root), root)
        self.root = root
        self.fails: Callable[[str, str], bool] = lambda _operation, _path: False
        self.asked: list[tuple[str, str]] = []

    def _look(self, operation: str, path: str) -> None:
        self.asked.append((operation, path))
        if self.fails(operation, path):
            raise ErrorCode.STORAGE.error(f"{self.url}/{path} cannot be used today.")

    async def put(self, path: str, data: bytes) -> None:
        self._look("put", path)
        await super().put(path, data)

    async def create(self, path: str, data: bytes) -> bool:
        self._look("create", path)
        return await super().create(path, data)

    async def put_file(self, path: str, source: Path, **how: Any) -> int:
        self._look("put_file", path)
        return await super().put_file(path, source, **how)

    async def get(self, path: str) -> bytes:
        self._look("get", path)
        return await super().get(path)

    async def delete(self, paths: Any) -> None:
        for path in (kept := list(paths)):
            self._look("delete", path)
        await super().delete(kept)

    def files(self, below: str = "") -> set[str]:
        """What is there."""
        place = self.root / below
        return {path.relative_to(self.root).as_posix() for path in place.rglob("*") if path.is_file()}
