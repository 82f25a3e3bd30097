"""Idempotence: the last batches of each writer, so that a batch sent twice is stored once.

A writer numbers its batches per bucket: 0, 1, 2 … 2147483647, 0 … The log takes the next number, answers one of the
last five from memory, and refuses anything else.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from lakeward.records.batch.crc32c import checksum

REMEMBERED_BATCHES = 5
_SEQUENCES = 2**31


class WrittenBatch(NamedTuple):
    """What is remembered of a batch."""

    sequence: int
    base_offset: int
    last_offset: int
    timestamp_ms: int


class Verdict(enum.Enum):
    """What to do with a batch."""

    NEXT = "append it"
    DUPLICATE = "answer with the offsets of the first time"
    AHEAD = "its predecessor has not come yet"
    OUT_OF_ORDER = "refuse it"


def next_sequence(sequence: int) -> int:
    """The number of the batch behind this one."""
    return (sequence + 1) % _SEQUENCES


class WriterStates:
    """The writers of one bucket."""

    __slots__ = ("_writers",)

    def __init__(self) -> None:
        self._writers: dict[int, list[WrittenBatch]] = {}

    def __len__(self) -> int:
        return len(self._writers)

    def judge(self, writer_id: int, sequence: int) -> tuple[Verdict, WrittenBatch | None]:
        """Whether a batch is the next one of its writer."""
        batches = self._writers.get(writer_id)
        if batches is None:
            return (Verdict.NEXT if sequence == 0 else Verdict.AHEAD), None
        last = batches[-1].sequence
        if sequence == next_sequence(last):
            return Verdict.NEXT, None
        for batch in reversed(batches):
            if batch.sequence == sequence:
                return Verdict.DUPLICATE, batch
        is_ahead = (sequence - last) % _SEQUENCES < _SEQUENCES // 2  # numbers wrap: the nearer way round counts
        return (Verdict.AHEAD if is_ahead else Verdict.OUT_OF_ORDER), None

    def record(self, writer_id: int, batch: WrittenBatch) -> None:
        """Remember a batch that was appended; whoever wrote last stands last."""
        batches = self._writers.pop(writer_id, None) or []
        self._writers[writer_id] = batches
        batches.append(batch)
        if len(batches) > REMEMBERED_BATCHES:
            del batches[0]

    def expire(self, before_ms: int) -> None:
        """Forget writers that have been silent since before a time."""
        for writer_id in [w for w, batches in self._writers.items() if batches[-1].timestamp_ms < before_ms]:
            del self._writers[writer_id]

    def make_room(self, writer_ids: Iterable[int], most: int, before_ms: int) -> bool:
        """Forget those that wrote longest ago so that new ones are not too many.

        Whoever wrote since a time is kept, because its batches may still come a second time: then there is no room.
        """
        new = {one for one in writer_ids if one >= 0 and one not in self._writers}
        surplus = len(self._writers) + len(new) - most
        if not new or surplus <= 0:
            return True
        silent = [w for w in islice(self._writers, surplus) if self._writers[w][-1].timestamp_ms < before_ms]
        for writer_id in silent:
            del self._writers[writer_id]
        return len(silent) == surplus

    def to_json(self) -> bytes:
        """The state as Apache Fluss writes it (its newest batch), plus the batches before that one."""
        entries = []
        for writer_id, batches in self._writers.items():
            newest = batches[-1]
            entries.append(
                {
                    "writer_id": writer_id,
                    "last_batch_sequence": newest.sequence,
                    "last_batch_base_offset": newest.last_offset,  # sic: Apache Fluss stores the last offset here
                    "offset_delta": newest.last_offset - newest.base_offset,
                    "last_batch_timestamp": newest.timestamp_ms,
                    "earlier_batches": [list(batch) for batch in batches[:-1]],
                }
            )
        content = json.dumps(entries, separators=(",", ":"))
        crc = int(checksum(content.encode()))
        return f'{{"version":1,"writer_id_entries":{content},"crc32c":{crc}}}'.encode()

    @classmethod
    def of_json(cls, data: bytes) -> WriterStates:
        """The state in a file; raises ValueError or KeyError when it is none."""
        states = cls()
        node = json.loads(data)
        entries = node["writer_id_entries"]
        crc = node.get("crc32c")  # Apache Fluss writes none
        if crc is not None and crc != checksum(json.dumps(entries, separators=(",", ":")).encode()):
            raise ValueError("the checksum is wrong")
        for entry in entries:
            last = int(entry["last_batch_base_offset"])
            newest = WrittenBatch(
                int(entry["last_batch_sequence"]),
                last - int(entry["offset_delta"]),
                last,
                int(entry["last_batch_timestamp"]),
            )
            earlier: Iterable[list[int]] = entry.get("earlier_batches", ())
            states._writers[int(entry["writer_id"])] = [*(WrittenBatch(*b) for b in earlier), newest]
        return states
