"""StreamOffset: what a stream has read, bucket by bucket. All that a stream knows.

{"table_id": 7, "state_ms": 1763200000000, "partitions": {"2026-11-01": 12},
 "buckets": {"2026-11-01/0": 1200, "2026-11-01/1": {"state": 900}}}

A number is the next offset to read. `{"state": 900}` says that the bucket's rows as of offset 900 come first; for a
partition that is not in `partitions`, one that only the lake has, that it has 900 rows.

`"lake": {"0": 800}`: a stream that began with the lake reads the bucket's rows before offset 800 there.

The end of a stream's first batch says in `begin` where the batch begins. Engines write down where a batch ends, but not
where a stream began: asked again after a crash, it would begin elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from lakeward.client.forms.results import BucketId
from lakeward.errors import ErrorCode

_V = TypeVar("_V")


class Position(NamedTuple):
    """Where a bucket goes on: at an offset, after the state as of that offset unless it was read already."""

    offset: int
    is_state: bool = False


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """Positions by bucket. Ids tell a table or partition from another one of the same name."""

    table_id: int
    buckets: Mapping[BucketId, Position]
    partitions: Mapping[str, int] = field(default_factory=dict)
    state_ms: int = 0
    is_initial: bool = False
    begin: StreamOffset | None = None
    lake_ends: Mapping[BucketId, int] = field(default_factory=dict)

    def is_gone(self, id_: BucketId) -> bool:
        """Whether the bucket's partition was only in the lake when the stream began."""
        return id_.partition is not None and id_.partition not in self.partitions

    def next_offsets(self) -> dict[BucketId, int]:
        """The next offset of each bucket whose state has been read: what a consumer group commits."""
        read = ((id_, position) for id_, position in self.buckets.items() if not position.is_state)
        return {id_: position.offset for id_, position in read if not self.is_gone(id_)}

    def to_json(self) -> dict[str, Any]:
        """The JSON form; the same offsets give the same text."""
        json: dict[str, Any] = {
            "table_id": self.table_id,
            "state_ms": self.state_ms,
            "partitions": dict(sorted(self.partitions.items())),
            "buckets": {
                str(id_): {"state": position.offset} if position.is_state else position.offset
                for id_, position in _in_order(self.buckets)
            },
        }
        if self.lake_ends:
            json["lake"] = {str(id_): end for id_, end in _in_order(self.lake_ends)}
        if self.is_initial:
            json["initial"] = True
        if self.begin is not None:
            json["begin"] = self.begin.to_json()
        return json

    @classmethod
    def of_json(cls, json: Mapping[str, Any]) -> StreamOffset:
        """The offsets of a JSON form; INVALID_SCAN_REQUEST when it is none."""
        try:
            return cls(
                table_id=int(json["table_id"]),
                state_ms=int(json.get("state_ms") or 0),
                partitions={name: int(id_) for name, id_ in (json.get("partitions") or {}).items()},
                buckets={_bucket_id(text): _position(told) for text, told in json["buckets"].items()},
                is_initial=bool(json.get("initial")),
                begin=cls.of_json(json["begin"]) if json.get("begin") else None,
                lake_ends={_bucket_id(text): int(end) for text, end in (json.get("lake") or {}).items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"The checkpoint holds offsets that cannot be read ({wrong!r}): {json!r}."
            ) from wrong


def _in_order(buckets: Mapping[BucketId, _V]) -> list[tuple[BucketId, _V]]:
    return sorted(buckets.items(), key=lambda item: (item[0].partition or "", item[0].bucket))


def _bucket_id(text: str) -> BucketId:
    partition, slash, bucket = text.rpartition("/")
    return BucketId(partition if slash else None, int(bucket))


def _position(told: Any) -> Position:
    return Position(int(told["state"]), is_state=True) if isinstance(told, Mapping) else Position(int(told))
