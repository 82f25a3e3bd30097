"""RemoteStore: what a place for files can do.

Paths are relative to the store's root and separated by '/'. What fails is a LakewardError with code STORAGE:

    NotFoundError    nothing is stored under the path
    DeniedError      the store knows us not, or does not let us
    InvalidError     the store says that the call is wrong, so that asking again is in vain
    RetriableError   everything else, after the store was asked again for a while
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lakeward.errors import ErrorCode
from lakeward.remote.stores.pace import Pace


@dataclass(frozen=True, slots=True)
class StoredObject:
    """One file of a store."""

    path: str
    size: int
    modified_ms: int


class RemoteStore(Protocol):
    """A place for files. Nothing that is written is visible before it is whole."""

    @property
    def url(self) -> str:
        """The root, as clients are told it."""
        ...

    async def put(self, path: str, data: bytes) -> None:
        """Store a small file, in place of what is there."""
        ...

    async def create(self, path: str, data: bytes) -> bool:
        """Store a small file unless one is there; whether it was stored.

        Make the content unique where it matters who was first: by it a store knows its own after a lost answer.
        """
        ...

    async def put_file(self, path: str, source: Path, *, pace: Pace | None = None) -> int:
        """Copy a local file into the store; its size."""
        ...

    async def get(self, path: str) -> bytes:
        """A whole file."""
        ...

    async def get_range(self, path: str, start: int, end: int) -> bytes:
        """The bytes from `start` up to, not including, `end`; fewer where the file ends before."""
        ...

    async def get_file(self, path: str, target: Path) -> int:
        """Copy a file to a local one, which appears when it is whole; its size."""
        ...

    async def head(self, path: str) -> StoredObject | None:
        """What is known of a file, None when there is none."""
        ...

    def list(self, prefix: str = "") -> AsyncIterator[StoredObject]:
        """The files below a directory, in order of their paths."""
        ...

    async def delete(self, paths: Iterable[str]) -> None:
        """Remove files; those that are not there are fine."""
        ...

    async def delete_all(self, prefix: str) -> None:
        """Remove everything below a directory."""
        ...

    async def tidy(self, prefix: str) -> None:
        """Remove what interrupted writes left below a directory; nobody may be writing there."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def checked_path(path: str) -> str:
    """A path that stays inside the store."""
    parts = path.split("/")
    if any(part in {"", ".", ".."} for part in parts):
        raise ErrorCode.STORAGE.error(f"'{path}' is not a path inside a remote store.")
    return path
