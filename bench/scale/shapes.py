"""Axes and their points: each varies one thing, everything else is as small as makes sense."""

from __future__ import annotations

from dataclasses import dataclass, replace

#: Bytes of one row of `bench.rows`, as users see it.
ROW_BYTES = 92


@dataclass(frozen=True)
class Shape:
    """What a server holds when it is measured."""

    rows: int = 1_000_000
    keys: int = 1_000_000
    buckets: int = 2
    partitions: int = 0
    rounds: int = 0
    connections: int = 1
    #: Rows go to buckets by their id, so that each has some; otherwise batch by batch.
    by_id: bool = False

    @property
    def gigabytes(self) -> float:
        """Of the log table, before compression."""
        return self.rows * ROW_BYTES / 1e9


@dataclass(frozen=True)
class Axis:
    """One thing that grows, and which work is measured for it."""

    name: str
    points: tuple[int, ...]
    works: tuple[str, ...]
    #: Where each other server can follow; beyond that it would only be waited for.
    peers: dict[str, int]


_ALL = ("append", "scan", "upsert", "lookup", "tiering", "union", "start", "restore")
AXES = {
    axis.name: axis
    for axis in (
        Axis(
            "rows",
            (100_000, 1_000_000, 10_000_000, 100_000_000),
            _ALL,
            {"fluss": 10_000_000, "kafka": 1_000_000, "duckdb": 1 << 40},
        ),
        Axis("buckets", (1, 10, 100, 1000, 10_000), _ALL, {"fluss": 100, "kafka": 100, "duckdb": 1 << 40}),
        Axis("partitions", (1, 10, 100, 1000), _ALL, {"fluss": 10, "duckdb": 1 << 40}),
        Axis("rounds", (1, 10, 100, 1000), ("append", "scan", "tiering", "union", "start"), {"duckdb": 1 << 40}),
        Axis("connections", (1, 10, 100, 1000), ("crowd",), {"fluss": 100}),
    )
}
_KEYS_AT_MOST = 10_000_000


def shape_of(axis: str, value: int) -> Shape:
    """The shape at a point of an axis."""
    few = Shape(rows=1_000_000, keys=200_000)
    if axis == "rows":
        return replace(few, rows=value, keys=min(value, _KEYS_AT_MOST))
    if axis == "buckets":
        return replace(few, buckets=value, by_id=True)
    if axis == "partitions":
        return replace(few, partitions=value, by_id=True)
    if axis == "rounds":
        return replace(few, rounds=value)
    return replace(few, rows=100_000, keys=100_000, connections=value)


def points_of(axis: Axis, largest_gb: float) -> tuple[int, ...]:
    """The points of an axis; rows up to so many GB, a 100 GB being 10⁹ rows and a bit."""
    if axis.name != "rows":
        return axis.points
    more = (*axis.points, 1_000_000_000)
    return tuple(rows for rows in more if rows * ROW_BYTES / 1e9 <= largest_gb)
