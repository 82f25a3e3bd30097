"""What MemoryFiles is made of: contents and directories, each as it is now and as it is on the disk.

A power cut takes what was not synced, but not tidily: of the writes to a file some are there and others are not, of the
names in a directory those that were changed first. Each file and each directory is on its own, as POSIX has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from lakeward.runtime.entropy import Entropy

_PAGE = 4096


@dataclass(slots=True, eq=False)
class Content:
    """The bytes of a file. Copies share them until one is written to."""

    number: int
    now: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    modified_ns: int = 0
    #: What was written since the last sync: position and bytes; None where the file was cut to a position.
    writes: list[tuple[int, bytes | None]] = field(default_factory=list)
    is_shared: bool = False

    def write(self, data: bytes, position: int) -> None:
        """Put bytes at a position."""
        self._own()
        _put(self.now, data, position)
        self.writes.append((position, data))

    def truncate(self, size: int) -> None:
        """Cut, or lengthen by zeros."""
        self._own()
        _cut(self.now, size)
        self.writes.append((size, None))

    def _own(self) -> None:
        if self.is_shared:
            self.now, self.writes, self.is_shared = self.now[:], self.writes[:], False

    def sync(self) -> None:
        """From now on a power cut takes none of it."""
        self.synced, self.writes = bytes(self.now), []

    def copy(self) -> Content:
        """The same file in another world."""
        self.is_shared = True
        return Content(self.number, self.now, self.synced, self.modified_ns, self.writes, is_shared=True)

    def after_power_cut(self, entropy: Entropy) -> Content:
        """What is left of it: the first of the writes, perhaps a part of the next one, perhaps with a page missing."""
        left = bytearray(self.synced)
        kept = entropy.below(len(self.writes) + 1)
        for position, data in self.writes[:kept]:
            _apply(left, position, data)
        if kept < len(self.writes):
            position, data = self.writes[kept]
            if data is not None and entropy.below(2):
                _apply(left, position, data[: entropy.below(len(data) + 1)])
        if kept and len(left) > len(self.synced) and not entropy.below(3):
            # The size was noted before the pages were: what the file was lengthened by is partly zeros.
            first = len(self.synced) + entropy.below(len(left) - len(self.synced))
            end = min(len(left), first + _PAGE)
            left[first:end] = bytes(end - first)
        return Content(self.number, left, bytes(left), self.modified_ns)


@dataclass(slots=True, eq=False)
class Folder:
    """The names in a directory."""

    now: dict[str, Content | Folder] = field(default_factory=dict)
    synced: dict[str, Content | Folder] = field(default_factory=dict)
    #: What happened to names since the last sync: each name with what it stands for, or None.
    changes: list[tuple[tuple[str, Content | Folder | None], ...]] = field(default_factory=list)

    def change(self, *names: tuple[str, Content | Folder | None]) -> None:
        """Give or take names, all of these at one stroke."""
        _rename(self.now, names)
        self.changes.append(names)

    def sync(self) -> None:
        """From now on a power cut takes none of the names."""
        self.synced, self.changes = dict(self.now), []

    def copy(self, of: Callable[[Content | Folder], Content | Folder], into: Folder) -> None:
        """The same directory in another world, where each thing is what `of` says."""
        into.now = {name: of(node) for name, node in self.now.items()}
        into.synced = {name: of(node) for name, node in self.synced.items()}
        into.changes = [
            tuple((name, None if node is None else of(node)) for name, node in names) for names in self.changes
        ]

    def after_power_cut(self, entropy: Entropy) -> dict[str, Content | Folder]:
        """The names that are left: those that were synced, and the first of the changes since."""
        left = dict(self.synced)
        for names in self.changes[: entropy.below(len(self.changes) + 1)]:
            _rename(left, names)
        return left


def _rename(entries: dict[str, Content | Folder], names: tuple[tuple[str, Content | Folder | None], ...]) -> None:
    for name, node in names:
        if node is None:
            entries.pop(name, None)
        else:
            entries[name] = node


def _apply(content: bytearray, position: int, data: bytes | None) -> None:
    if data is None:
        _cut(content, position)
    else:
        _put(content, data, position)


def _put(content: bytearray, data: bytes, position: int) -> None:
    if position > len(content):
        content.extend(bytes(position - len(content)))
    content[position : position + len(data)] = data


def _cut(content: bytearray, size: int) -> None:
    if size < len(content):
        del content[size:]
    else:
        content.extend(bytes(size - len(content)))
