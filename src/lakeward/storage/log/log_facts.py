"""LogFacts: what a log must remember even when its files have gone.

Kept beside the log's directory, as `log-<bucket>.json`: where the log begins (what lies before it left on purpose),
how far it reached at its last checkpoint, that a segment behind that has rows, whether the log was closed in peace, and
which ranges somebody gave up with `lakeward repair`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from lakeward.records.batch.crc32c import checksum
from lakeward.runtime.files.port import Files
from lakeward.runtime.files.whole_file import replace_file

_VERSION = 1
#: A segment has no more offsets than this: whoever knows one of them knows which come surely after it.
SEGMENT_OFFSETS_MAX = 2**31


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Offsets that were given up: from `first` up to, not including, `end`."""

    first: int
    end: int
    reason: str
    time_ms: int


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What is remembered of one log."""

    start_offset: int = 0
    end_offset: int = 0
    given_up: tuple[GivenUp, ...] = field(default=())
    #: Where the first append ended that followed an opening or began a segment. It was not synced: it counts as long
    #: as the machine that saw it is up, because what a power cut takes of the last minute is no damage.
    seen_offset: int = 0
    seen_boot: str = ""
    #: Whether the log was closed after its last row: then it reached `end_offset` and no farther.
    is_closed: bool = False

    def reached_offset(self, boot_id: str) -> int:
        """How far the log reached for certain, as seen from this start of the machine."""
        return max(self.end_offset, self.seen_offset if self.seen_boot == boot_id else 0)

    def without(self, given: GivenUp) -> LogFacts:
        """The same log after a range was given up."""
        return replace(self, given_up=(*self.given_up, given))

    def gave_up(self, offset: int) -> bool:
        """Whether an offset lies in a range that was given up."""
        return any(one.first <= offset < one.end for one in self.given_up)

    def write(self, disk: Files, directory: Path, *, durable: bool = False) -> None:
        """Write them beside the log's directory."""
        node: dict[str, Any] = {
            "version": _VERSION,
            "start_offset": self.start_offset,
            "end_offset": self.end_offset,
            "given_up": [
                {"first": one.first, "end": one.end, "reason": one.reason, "time_ms": one.time_ms}
                for one in self.given_up
            ],
            "seen_offset": self.seen_offset,
            "seen_boot": self.seen_boot,
            "is_closed": self.is_closed,
        }
        text = json.dumps(node | {"crc32c": _checksum(node)}, indent=1)
        replace_file(disk, facts_file(directory), text.encode(), durable=durable)


class FactsFile:
    """The facts of a log in use. They are noted on two threads; each note keeps what the others said."""

    def __init__(self, disk: Files, directory: Path, facts: LogFacts) -> None:
        self.now = facts
        self._disk = disk
        self._directory = directory
        self._lock = threading.Lock()

    def note_end(self, end_offset: int) -> None:
        """A checkpoint was written."""
        self._note(end_offset=max(end_offset, self.now.end_offset))

    def note_offset(self, offset: int) -> None:
        """Rows were appended to a segment that had none, or to a log that had been closed."""
        self._note(seen_offset=offset, seen_boot=self._disk.boot_id, is_closed=False)

    def note_start(self, start_offset: int) -> None:
        """Files are about to be deleted: what lies before an offset leaves on purpose."""
        self._note(durable=True, start_offset=start_offset)

    def note_cut(self, end_offset: int) -> None:
        """The end of the log is about to be taken back."""
        ends = min(self.now.end_offset, end_offset), min(self.now.seen_offset, end_offset)
        self._note(durable=True, end_offset=ends[0], seen_offset=ends[1], is_closed=False)

    def note_close(self, end_offset: int) -> None:
        """Everything is synced, and nothing will be appended."""
        self._note(end_offset=end_offset, is_closed=True)

    def write_anew(self) -> None:
        """There was no file, or a damaged one."""
        self._note()

    def _note(self, *, durable: bool = False, **changes: Any) -> None:
        with self._lock:
            facts = replace(self.now, **changes)
            facts.write(self._disk, self._directory, durable=durable)
            self.now = facts


class Evidence(NamedTuple):
    """How far a log reached for certain; whether it may have gone farther."""

    offset: int
    is_exact: bool

    @property
    def unused_offset(self) -> int:
        """The first offset that was surely never used, for a log that ends before the evidence does."""
        return self.offset if self.is_exact else self.offset + SEGMENT_OFFSETS_MAX

    def describe(self, reason: str) -> str:
        """What is wrong with a log that ends before the evidence does."""
        if self.is_exact:
            return f"{reason}, and the log had reached {self.offset}"
        return f"{reason}, and the log had reached {self.offset} or more: no offset up to {self.unused_offset} is used"


def evidence(facts: LogFacts | None, boot_id: str, others: Iterable[int]) -> Evidence:
    """What facts, checkpoints, names of files, snapshots and lakes say together."""
    offset = max([0 if facts is None else facts.reached_offset(boot_id), *others])
    return Evidence(offset, facts is not None and facts.is_closed and facts.end_offset == offset)


def facts_file(directory: Path) -> Path:
    """Where the facts of the log in a directory are."""
    return directory.with_name(directory.name + ".json")


def read_facts(disk: Files, directory: Path) -> LogFacts | None:
    """The facts of a log; None when there are none. Raises ValueError when they are damaged."""
    try:
        node = json.loads(disk.read_bytes(facts_file(directory)))
        crc = node.pop("crc32c")
        if node["version"] != _VERSION or crc != _checksum(node):
            raise ValueError("the checksum is wrong")
        given = tuple(GivenUp(**one) for one in node["given_up"])
        seen = node.get("seen_offset", 0), node.get("seen_boot", ""), node.get("is_closed", False)
        return LogFacts(node["start_offset"], node["end_offset"], given, *seen)
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(str(wrong)) from wrong


def _checksum(node: dict[str, Any]) -> int:
    return int(checksum(json.dumps(node, sort_keys=True).encode()))
