"""Offsets: how far a stream is in every partition, as Spark's checkpoint keeps it. Pure planning, no broker.

    {"events": {"0": 120, "1": 118}, "@ids": {"events": "Nw…"}, "@until": {"events": {"0": 500, "1": 480}}}

`@ids` tells a topic from another one of the same name that was made later; `@until` is where a bounded stream ends, as
it was seen when the stream began. No topic's name begins with `@`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from lakeward.errors import ErrorCode

Partition = tuple[str, int]
Places = Mapping[Partition, int]

_IDS, _UNTIL = "@ids", "@until"
_PAIR = re.compile(r"\s*(topic|partition|offset)\s*:\s*([^,;\s]+)\s*")


@dataclass(frozen=True, slots=True)
class Offsets:
    """The next offset to read of every partition."""

    places: Places
    ids: Mapping[str, str] = field(default_factory=dict)
    until: Places | None = None

    def to_json(self) -> dict[str, Any]:
        """As the checkpoint has it."""
        found: dict[str, Any] = nest(self.places)
        if self.ids:
            found[_IDS] = dict(self.ids)
        if self.until is not None:
            found[_UNTIL] = nest(self.until)
        return found

    @classmethod
    def of_json(cls, found: Mapping[str, Any]) -> Offsets:
        """What `to_json` wrote."""
        places = {topic: inner for topic, inner in found.items() if not topic.startswith("@")}
        until = found.get(_UNTIL)
        return cls(flat(places), found.get(_IDS, {}), None if until is None else flat(until))

    @property
    def is_finished(self) -> bool:
        """Whether a bounded stream has read all it should."""
        return self.until is not None and all(self.places.get(part, 0) >= end for part, end in self.until.items())


@dataclass(frozen=True, slots=True)
class Range:
    """Messages that one task reads."""

    topic: str
    partition: int
    begin: int
    end: int


def nest(places: Places) -> dict[str, dict[str, int]]:
    """By topic and partition, in order."""
    found: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(places.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def flat(found: Mapping[str, Mapping[str, Any]]) -> dict[Partition, int]:
    """What `nest` made."""
    return {(topic, int(part)): int(offset) for topic, inner in found.items() for part, offset in inner.items()}


def parse_places(text: str, topics: Iterable[str], key: str) -> dict[Partition, int]:
    """Offsets as people write them: `partition:0,offset:42;…` of one topic, or JSON."""
    try:
        if text.lstrip().startswith("{"):
            return flat(json.loads(text))
        named = list(topics)
        places: dict[Partition, int] = {}
        for part in filter(None, (part.strip() for part in text.split(";"))):
            pairs = {found[1]: found[2] for piece in part.split(",") if (found := _PAIR.fullmatch(piece))}
            if "topic" not in pairs and len(named) != 1:
                raise ValueError("several topics are read: write topic:name,partition:0,offset:42")
            places[pairs.get("topic") or named[0], int(pairs["partition"])] = int(pairs["offset"])
    except (ValueError, KeyError, AttributeError, TypeError) as wrong:
        why = f" ({wrong})" if isinstance(wrong, ValueError) and "several" in str(wrong) else ""
        raise ErrorCode.INVALID_CONFIG.error(
            f"The option '{key}' is wrong{why}: write partition:0,offset:42;partition:1,offset:300, or"
            ' {"topic": {"0": 42}}.'
        ) from None
    return places


def limit_rows(begin: Places, end: Places, rows: int | None) -> dict[Partition, int]:
    """Ends at most so many rows after the beginnings, shared out by what each partition has; some row is among them."""
    total = sum(max(0, end[part] - begin[part]) for part in end)
    if rows is None or total <= rows:
        return dict(end)
    limited, left = {}, rows
    for part in sorted(end):
        size = max(0, end[part] - begin[part])
        share = size * rows // total
        limited[part] = begin[part] + share if size else end[part]
        left -= share
    for part in sorted(end):
        extra = min(left, end[part] - limited[part])
        if extra > 0:
            limited[part] += extra
            left -= extra
    return limited


def ranges(begin: Places, end: Places, split_rows: int) -> list[Range]:
    """What tasks read: a range for each partition that has rows, large ones cut evenly."""
    found = []
    for (topic, partition), last in sorted(end.items()):
        first = begin[topic, partition]
        count = -(-(last - first) // split_rows)
        cuts = [first + (last - first) * n // count for n in range(count + 1)] if count > 0 else []
        found += [Range(topic, partition, low, high) for low, high in pairwise(cuts)]
    return found


def losses(start: Offsets, now: Offsets, earliest: Places) -> list[str]:
    """What of the rows after `start` is gone, in words."""
    found = []
    made_again = sorted(topic for topic, id_ in start.ids.items() if now.ids.get(topic, id_) != id_)
    found += [f"topic '{topic}' was deleted and made again" for topic in made_again]
    for part, offset in sorted(start.places.items()):
        topic, partition = part
        if topic in made_again:
            continue
        if part not in now.places:
            found.append(f"partition {partition} of topic '{topic}' is no longer there")
        elif offset < earliest.get(part, 0):
            found.append(
                f"topic '{topic}', partition {partition}: offsets {offset} to {earliest[part] - 1} were deleted"
            )
        elif offset > now.places[part]:
            found.append(
                f"topic '{topic}', partition {partition} ends at offset {now.places[part]}, and the stream is at"
                f" {offset}: the topic was made again, or lost rows"
            )
    return found


def begin_of(start: Offsets, end: Offsets, earliest: Places) -> dict[Partition, int]:
    """Where each partition of a micro-batch begins; new, cut and renewed ones begin with what there is."""
    found = {}
    for part, last in end.places.items():
        first = start.places.get(part)
        renewed = start.ids.get(part[0], end.ids.get(part[0])) != end.ids.get(part[0])
        low = earliest.get(part, 0)
        found[part] = low if first is None or renewed or first > last else max(first, low)
    return found


def advance(offsets: Offsets, places: Places, ids: Mapping[str, str]) -> Offsets:
    """The next offsets of a stream."""
    topics = {topic for topic, _ in places}
    known = {topic: id_ for topic, id_ in {**offsets.ids, **ids}.items() if topic in topics}
    return replace(offsets, places=dict(places), ids=known)
