"""Checkpoints: "below this offset all is on disk, and this is what the writers had done".

A checkpoint is a file `<offset>.writer_snapshot`. It is written after the log and its indexes have been synced up to
that offset, so recovery has only to look at what comes behind the newest one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lakeward.runtime.files.port import Files, sync_data
from lakeward.runtime.files.whole_file import replace_file
from lakeward.storage.log.log_facts import FactsFile
from lakeward.storage.log.segment.segment import file_stem
from lakeward.storage.log.writer_state import WriterStates

SUFFIX = ".writer_snapshot"
_KEPT = 2


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What has to be written, captured at one moment; writing it may happen on another thread."""

    disk: Files
    directory: Path
    offset: int
    logs: tuple[Path, ...]
    index_files: tuple[tuple[Path, bytes], ...]
    writers: bytes
    segment_bases: frozenset[int]
    facts: FactsFile
    #: Those above the log, when its names in them may not have been synced yet.
    parents: tuple[Path, ...] = ()

    def write(self) -> None:
        """Sync the logs, then the indexes, then say so."""
        for log in self.logs:
            sync_data(self.disk, log)
        for path, content in self.index_files:
            replace_file(self.disk, path, content, durable=False)
        for parent in self.parents:
            self.disk.sync_directory(parent)
        replace_file(self.disk, checkpoint_file(self.directory, self.offset), self.writers)
        self.facts.note_end(self.offset)
        for offset, path in stored_checkpoints(self.disk, self.directory)[_KEPT:]:
            if offset not in self.segment_bases:
                self.disk.unlink(path)


class Checkpoints:
    """The checkpoints of one log: asked for on its thread, written in that order on another.

    One that fails is not counted, nor are those that were asked for after it: they sync only what came since. The
    next one begins where the last good one ended.
    """

    def __init__(self, offset: int) -> None:
        self.asked_offset = offset
        self.durable_offset = offset

    def ask(self, made: Checkpoint) -> Callable[[], None]:
        """What writes a checkpoint that reaches from the last one asked for up to its offset."""
        begin, self.asked_offset = self.asked_offset, made.offset

        def write() -> None:
            if self.durable_offset < begin:
                self.asked_offset = self.durable_offset
                return
            try:
                made.write()
            except BaseException:
                self.asked_offset = self.durable_offset
                raise
            self.durable_offset = max(self.durable_offset, made.offset)

        return write

    def give_up(self) -> None:
        """Write none of those that were asked for: what they vouch for is about to go."""
        self.durable_offset = -2

    def ask_again(self) -> None:
        """Let the next one begin where the last good one ended, whatever is under way."""
        self.asked_offset = self.durable_offset


def checkpoint_file(directory: Path, offset: int) -> Path:
    """Where the checkpoint at an offset is kept."""
    return directory / (file_stem(offset) + SUFFIX)


def stored_checkpoints(disk: Files, directory: Path) -> list[tuple[int, Path]]:
    """The checkpoints in a directory, newest first."""
    return sorted(((int(p.stem), p) for p in disk.glob(directory, "*" + SUFFIX)), reverse=True)


def read_writers(disk: Files, path: Path) -> WriterStates | None:
    """The writers in a checkpoint, or None when it is damaged."""
    try:
        return WriterStates.of_json(disk.read_bytes(path))
    except (OSError, ValueError, KeyError, TypeError):
        return None
