"""MemoryFiles: a file system in memory, for tests that stop it in the middle.

Every call that changes something is told to `watch` before it happens. Whoever watches may raise an OSError (the disk
fails), or `copy` the world as it is: `after_kill` is what the next process finds, `after_power_cut` what is left on the
disk when the machine starts again.
"""

from __future__ import annotations

import errno
import fnmatch
import os
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import NamedTuple

from lakeward.runtime.entropy import Entropy
from lakeward.runtime.files.memory_nodes import Content, Folder
from lakeward.runtime.files.port import Bytes, FileFacts, How, Space

_ROOM = 1 << 40


class Change(NamedTuple):
    """What is about to happen, and to which file."""

    #: open, write, truncate, sync, rename, link, unlink, make, remove, sync directory or time.
    what: str
    path: Path
    data: bytes = b""
    position: int = 0


class MemoryFile:
    """An open file."""

    __slots__ = ("_content", "_files", "_is_lock", "_path")

    def __init__(self, files: MemoryFiles, path: Path, content: Content, *, is_lock: bool = False) -> None:
        self._files = files
        self._path = path
        self._content = content
        self._is_lock = is_lock

    def pread(self, size: int, position: int, /) -> bytes:
        """So many bytes from a position on."""
        return bytes(memoryview(self._content.now)[position : position + size])

    def pwrite(self, data: Bytes, position: int, /) -> int:
        """Write at a position."""
        kept = bytes(data)
        self._files.announce(Change("write", self._path, kept, position))
        self._content.write(kept, position)
        self._content.modified_ns = self._files.now_ms() * 1_000_000
        return len(kept)

    def truncate(self, size: int) -> None:
        """Cut the file, or lengthen it by zeros."""
        self._files.announce(Change("truncate", self._path, position=size))
        self._content.truncate(size)

    def reserve(self, position: int, size: int) -> None:
        """Take room: the file is that long afterwards."""
        if position + size > len(self._content.now):
            self.truncate(position + size)

    def facts(self) -> FileFacts:
        """Size, time and number."""
        return _facts(self._content)

    def sync(self) -> None:
        """A power cut takes nothing of what is there."""
        self._files.announce(Change("sync", self._path))
        self._content.sync()

    def sync_data(self) -> None:
        """The same."""
        self.sync()

    def close(self) -> None:
        """Let go."""
        if self._is_lock:
            self._files.locks.discard(self._path)


class MemoryFiles:
    """Files that nothing but a test ever sees."""

    def __init__(self, now_ms: Callable[[], int] = lambda: 0, watch: Callable[[Change], None] = lambda _: None) -> None:
        self.now_ms = now_ms
        self.watch = watch
        self.boot_id = "boot 1"
        self.locks: set[Path] = set()
        self._root = Folder()
        self._count = 0
        self._numbers = 0

    @property
    def change_count(self) -> int:
        """How many changes there have been."""
        return self._count

    def announce(self, change: Change) -> None:
        """Something is about to happen."""
        self.watch(change)
        self._count += 1

    # -- crashes

    def copy(self) -> MemoryFiles:
        """The same files in another world; what happens there is not seen here."""
        known: dict[int, Content | Folder] = {}

        def of(node: Content | Folder) -> Content | Folder:
            found = known.get(id(node))
            if found is None:
                found = known[id(node)] = node.copy() if isinstance(node, Content) else Folder()
                if isinstance(node, Folder):
                    assert isinstance(found, Folder)
                    node.copy(of, found)
            return found

        made = MemoryFiles(self.now_ms)
        root = of(self._root)
        assert isinstance(root, Folder)
        made._root, made.boot_id, made._numbers = root, self.boot_id, self._numbers
        return made

    def after_kill(self, under_way: Change | None, entropy: Entropy) -> MemoryFiles:
        """What the next process finds: all that happened, and perhaps a part of the write that was under way."""
        left = self.copy()
        if under_way is not None and under_way.what == "write" and left.exists(under_way.path):
            torn = under_way.data[: entropy.below(len(under_way.data) + 1)]
            if torn:
                left.open(under_way.path, How.EDIT).pwrite(torn, under_way.position)
        return left

    def after_power_cut(self, entropy: Entropy) -> MemoryFiles:
        """What the machine finds when it starts again."""
        known: dict[int, Content | Folder] = {}

        def of(node: Content | Folder) -> Content | Folder:
            found = known.get(id(node))
            if found is None:
                if isinstance(node, Content):
                    found = known[id(node)] = node.after_power_cut(entropy)
                else:
                    found = known[id(node)] = Folder()
                    found.now = {name: of(one) for name, one in node.after_power_cut(entropy).items()}
                    found.synced = dict(found.now)
            return found

        left = MemoryFiles(self.now_ms)
        root = of(self._root)
        assert isinstance(root, Folder)
        left._root, left.boot_id, left._numbers = root, self.boot_id + "'", self._numbers
        return left

    # -- files

    def open(self, path: Path, how: How = How.READ, mode: int = 0o644) -> MemoryFile:
        """Open a file; the mode means nothing here."""
        del mode
        node = self._find(path)
        if isinstance(node, Folder):
            raise _error(errno.EISDIR, path)
        if node is not None and how is How.NEW:
            raise _error(errno.EEXIST, path)
        if node is None:
            if how in {How.READ, How.EDIT}:
                raise _error(errno.ENOENT, path)
            folder = self._folder(path.parent)
            self.announce(Change("open", path))
            self._numbers += 1
            node = Content(self._numbers, modified_ns=self.now_ms() * 1_000_000)
            folder.change((path.name, node))
        elif how is How.EMPTY and node.now:
            self.announce(Change("truncate", path))
            node.truncate(0)
        return MemoryFile(self, path, node)

    def lock(self, path: Path) -> MemoryFile | None:
        """A file that is ours until it is closed; in a copy nobody has it."""
        if path in self.locks:
            return None
        file = self.open(path, How.CREATE)
        self.locks.add(path)
        node = self._find(path)
        assert isinstance(node, Content), file
        return MemoryFile(self, path, node, is_lock=True)

    def read_bytes(self, path: Path) -> bytes:
        """All of a file."""
        return bytes(self._content(path).now)

    def facts(self, path: Path) -> FileFacts:
        """Size, time and number of a file."""
        return _facts(self._content(path))

    def exists(self, path: Path) -> bool:
        """Whether there is a file or directory of this name."""
        return self._find(path) is not None

    def is_directory(self, path: Path) -> bool:
        """Whether there is a directory of this name."""
        return isinstance(self._find(path), Folder)

    def entries(self, directory: Path) -> list[Path]:
        """What is in a directory, in order of names."""
        return [directory / name for name in sorted(self._folder(directory).now)]

    def glob(self, directory: Path, pattern: str) -> list[Path]:
        """What matches a pattern below a directory."""
        found = [directory]
        for part in PurePath(pattern).parts:
            within = [one for one in found if self.is_directory(one)]
            found = [one for at in within for one in self.entries(at) if fnmatch.fnmatchcase(one.name, part)]
        return found

    # -- names

    def make_directory(self, path: Path, mode: int = 0o777) -> None:
        """Make a directory, and those above it."""
        node = self._find(path)
        if isinstance(node, Content):
            raise _error(errno.EEXIST, path)
        if node is None:
            self.make_directory(path.parent, mode)
            self.announce(Change("make", path))
            self._folder(path.parent).change((path.name, Folder()))

    def resolve(self, path: Path) -> Path:
        """There are no links and dots."""
        return path

    def tighten(self, directory: Path) -> None:
        """There are no others."""

    def is_private(self, path: Path) -> bool:
        """There are no others."""
        return self._find(path) is not None

    def rename(self, source: Path, target: Path) -> None:
        """Give a file or directory another name."""
        node = self._find(source)
        if node is None:
            raise _error(errno.ENOENT, source)
        there = self._find(target)
        if isinstance(there, Folder) and there.now:
            raise _error(errno.ENOTEMPTY, target)
        self.announce(Change("rename", target))
        before, behind = self._folder(source.parent), self._folder(target.parent)
        if before is behind:
            before.change((source.name, None), (target.name, node))
        else:
            behind.change((target.name, node))
            before.change((source.name, None))

    def link(self, source: Path, target: Path) -> None:
        """Give a file a second name."""
        content = self._content(source)
        if self.exists(target):
            raise _error(errno.EEXIST, target)
        folder = self._folder(target.parent)
        self.announce(Change("link", target))
        folder.change((target.name, content))

    def unlink(self, path: Path) -> None:
        """Take a file's name away, if it is there."""
        node = self._find(path)
        if isinstance(node, Folder):
            raise _error(errno.EISDIR, path)
        if node is not None:
            self.announce(Change("unlink", path))
            self._folder(path.parent).change((path.name, None))

    def remove_directory(self, path: Path) -> None:
        """Remove a directory that is empty."""
        if self._folder(path).now:
            raise _error(errno.ENOTEMPTY, path)
        self.announce(Change("remove", path))
        self._folder(path.parent).change((path.name, None))

    def remove_tree(self, path: Path) -> None:
        """Remove a directory with all that is in it, name by name."""
        if not self.is_directory(path):
            return
        for one in self.entries(path):
            if self.is_directory(one):
                self.remove_tree(one)
            else:
                self.unlink(one)
        self.remove_directory(path)

    def sync_directory(self, path: Path) -> None:
        """A power cut takes none of the names that are there."""
        folder = self._folder(path)
        self.announce(Change("sync directory", path))
        folder.sync()

    def set_time(self, path: Path, time_ms: int) -> None:
        """Say when a file was last changed."""
        content = self._content(path)
        self.announce(Change("time", path))
        content.modified_ns = time_ms * 1_000_000

    def space(self, path: Path) -> Space:
        """Room that never ends."""
        self._folder(path)
        return Space(_ROOM, _ROOM)

    # -- finding

    def _find(self, path: Path) -> Content | Folder | None:
        node: Content | Folder | None = self._root
        for name in path.parts[1:]:
            node = node.now.get(name) if isinstance(node, Folder) else None
        return node

    def _content(self, path: Path) -> Content:
        node = self._find(path)
        if node is None:
            raise _error(errno.ENOENT, path)
        if isinstance(node, Folder):
            raise _error(errno.EISDIR, path)
        return node

    def _folder(self, path: Path) -> Folder:
        node = self._find(path)
        if node is None:
            raise _error(errno.ENOENT, path)
        if isinstance(node, Content):
            raise _error(errno.ENOTDIR, path)
        return node


def _facts(content: Content) -> FileFacts:
    return FileFacts(len(content.now), content.modified_ns, content.number)


def _error(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))
