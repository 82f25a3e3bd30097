"""Damage: offsets of a log that cannot be read any more, why, and what to do.

A log with damage opens and goes on: what is whole is served, what is not is an error that names file, offsets and
remedy. Nothing passes it silently until somebody gives the range up with `lakeward repair`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from lakeward.errors import ErrorCode, LakewardError
from lakeward.storage.disk.directories import data_directory_of


def repair_command(log: str, first: int, end: int, directory: Path) -> str:
    """What gives a range up, as a person types it; `directory` is that of the log or of the state."""
    return f"lakeward repair {log} {first} {end} --data-dir {quote(str(data_directory_of(directory)))}"


class Damage(NamedTuple):
    """Offsets from `first` up to, not including, `end`."""

    first: int
    end: int
    path: Path
    reason: str

    def __str__(self) -> str:
        return f"offsets {self.first} to {self.end - 1}: {self.path}: {self.reason}"

    def error(self, log: str) -> LakewardError:
        """What a reader is told; asking again will not help. `log` is the table and the bucket."""
        return ErrorCode.CORRUPT_RECORD.error(f"{self.describe(log)}.")

    def describe(self, log: str) -> str:
        """What happened, to what, and what to do."""
        return (
            f"Offsets {self.first} to {self.end - 1} of {log} are damaged: {self.path}: {self.reason}. What lies "
            f"before them and from offset {self.end} on can be read. Stop the server and bring the file back from a "
            f"copy, or give them up with `{repair_command(log, self.first, self.end, self.path.parent)}`"
        )


class Damages:
    """The damage of one log, in order; ranges that overlap are one."""

    def __init__(self, found: Iterable[Damage] = ()) -> None:
        self._ranges: list[Damage] = []
        for one in found:
            self.add(one)

    def __len__(self) -> int:
        return len(self._ranges)

    def __iter__(self) -> Iterator[Damage]:
        return iter(self._ranges)

    def add(self, new: Damage) -> bool:
        """Note a range; whether anything about it is new. Of ranges that overlap, the first gives the reason."""
        first, end = new.first, new.end
        if first >= end:
            return False
        touching = [one for one in self._ranges if one.first < end and first < one.end]
        if any(one.first <= first and end <= one.end for one in touching):
            return False
        if touching:
            first, end = min(first, touching[0].first), max(end, touching[-1].end)
            new = touching[0]._replace(first=first, end=end)
        self._ranges = sorted([*(one for one in self._ranges if one not in touching), new])
        return True

    def at(self, offset: int) -> Damage | None:
        """The range that an offset lies in."""
        place = bisect_right(self._ranges, offset, key=lambda one: one.first) - 1
        return self._ranges[place] if place >= 0 and offset < self._ranges[place].end else None

    def next_from(self, offset: int) -> Damage | None:
        """The first range that ends after an offset."""
        return next((one for one in self._ranges if one.end > offset), None)

    def before(self, offset: int) -> Damage | None:
        """The range that ends at an offset, or holds it."""
        return next((one for one in self._ranges if one.first < offset <= one.end), None)

    def drop_below(self, offset: int) -> None:
        """Forget what has left the log."""
        self._ranges = [one for one in self._ranges if one.end > offset]
