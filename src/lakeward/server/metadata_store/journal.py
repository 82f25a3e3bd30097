"""Journal: the changes since an image, a line each, every line with its checksum.

<crc32, 8 hex digits> {"journal": 1, "identity": …, "after": <generation of the image>}
<crc32, 8 hex digits> {"n": <generation>, "do": [[<what>, <argument>, …], …]}
…
zeros: room that is taken ahead, so that a few changes more (drops, above all) fit on a disk that is full
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakeward.runtime.files.port import Files, How
from lakeward.runtime.files.whole_file import replace_file

#: Statements of a change: the name of a method of Change, then its arguments.
Statements = list[list[Any]]
_ROOM = 256 << 10
_LITTLE_ROOM = 64 << 10
_CRC_LENGTH = 9


def line_of(node: dict[str, Any]) -> bytes:
    """A line with its checksum."""
    text = json.dumps(node, separators=(",", ":")).encode()
    return b"%08x %b\n" % (zlib.crc32(text), text)


def node_of(line: bytes) -> dict[str, Any] | None:
    """What a line says, without its end; None when it is damaged."""
    text = line[_CRC_LENGTH:]
    try:
        node = json.loads(text) if line[:_CRC_LENGTH] == b"%08x " % zlib.crc32(text) else None
    except ValueError:
        return None
    return node if isinstance(node, dict) else None


@dataclass
class JournalText:
    """What a journal holds. A last line without its end was never acknowledged, and does not count."""

    identity: str | None = None
    after: int | None = None
    changes: dict[int, Statements] = field(default_factory=dict)
    #: Where damaged lines begin, in bytes.
    damaged: list[int] = field(default_factory=list)
    #: The last change there was, as far as lines can be counted.
    end: int = 0
    size: int = 0

    @classmethod
    def of(cls, data: bytes) -> JournalText:
        """Read a journal; a damaged line is passed over."""
        found = cls()
        at = 0
        lines = data.rstrip(b"\0").split(b"\n")[:-1]
        for number, line in enumerate(lines):
            node = node_of(line)
            if node is None:
                found.damaged.append(at)
                found.end += number > 0
            elif number == 0:
                found.identity, found.after = str(node.get("identity")), int(node.get("after", 0))
                found.end = max(found.end, found.after)
            else:
                found.changes[node["n"]] = node["do"]
                found.end = max(found.end, node["n"])
            at += len(line) + 1
        found.size = at
        return found


class Journal:
    """A journal that is being written."""

    def __init__(self, disk: Files, path: Path, *, at: int, durable: bool) -> None:
        """Go on behind byte `at`; `durable`: every change is synced before it counts."""
        self.path = path
        self.size = at
        self._durable = durable
        self._file = disk.open(path, How.EDIT)
        self._room = max(self._file.facts().size, at)
        if self._file.pread(self._room - at, at).strip(b"\0"):
            self._file.truncate(at)  # half a line of a change that nobody was told of
            self._room = at

    @classmethod
    def begin(cls, disk: Files, path: Path, identity: str, after: int, *, durable: bool) -> Journal:
        """A new journal in place of the one that was there."""
        head = line_of({"journal": 1, "identity": identity, "after": after})
        replace_file(disk, path, head)
        return cls(disk, path, at=len(head), durable=durable)

    def append(self, generation: int, statements: Statements) -> None:
        """Write a change; when this raises, it was not written."""
        line = line_of({"n": generation, "do": statements})
        self._take_room()
        try:
            written = self._file.pwrite(line, self.size)
            if written < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            if self._durable:
                self._file.sync_data()
        except OSError:
            self._file.truncate(self.size)
            self._room = self.size
            raise
        self.size += len(line)

    def _take_room(self) -> None:
        if not self._durable or self._room - self.size >= _LITTLE_ROOM:
            return
        try:
            self._file.reserve(self.size, _ROOM)
            self._room = self.size + _ROOM
        except OSError:
            return  # the disk is full, or cannot do that; what is written says so itself

    def close(self) -> None:
        """Let go of it; by then all of it is synced."""
        if not self._durable:
            self._file.sync()
        self._file.close()
