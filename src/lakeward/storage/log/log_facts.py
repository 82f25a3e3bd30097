"""LogFacts: what a log must remember even when its files have gone.

Kept beside the log's directory, as `log-<bucket>.json`: where the log begins (what lies before it left on purpose),
how far it reached at its last checkpoint, and which ranges somebody gave up with `lakeward repair`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lakeward.records.crc32c import checksum
from lakeward.storage.atomic_file import replace_file

_VERSION = 1


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

    def without(self, given: GivenUp) -> LogFacts:
        """The same log after a range was given up."""
        return replace(self, given_up=(*self.given_up, given))

    def gave_up(self, offset: int) -> bool:
        """Whether an offset lies in a range that was given up."""
        return any(one.first <= offset < one.end for one in self.given_up)

    def write(self, directory: Path, *, durable: bool = False) -> None:
        """Write them beside the log's directory."""
        node: dict[str, Any] = {
            "version": _VERSION,
            "start_offset": self.start_offset,
            "end_offset": self.end_offset,
            "given_up": [
                {"first": one.first, "end": one.end, "reason": one.reason, "time_ms": one.time_ms}
                for one in self.given_up
            ],
        }
        text = json.dumps(node | {"crc32c": _checksum(node)}, indent=1)
        replace_file(facts_file(directory), text.encode(), durable=durable)


def facts_file(directory: Path) -> Path:
    """Where the facts of the log in a directory are."""
    return directory.with_name(directory.name + ".json")


def read_facts(directory: Path) -> LogFacts | None:
    """The facts of a log; None when there are none. Raises ValueError when they are damaged."""
    try:
        node = json.loads(facts_file(directory).read_bytes())
        crc = node.pop("crc32c")
        if node["version"] != _VERSION or crc != _checksum(node):
            raise ValueError("the checksum is wrong")
        given = tuple(GivenUp(**one) for one in node["given_up"])
        return LogFacts(node["start_offset"], node["end_offset"], given)
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, AttributeError) as wrong:
        raise ValueError(str(wrong)) from wrong


def _checksum(node: dict[str, Any]) -> int:
    return int(checksum(json.dumps(node, sort_keys=True).encode()))
