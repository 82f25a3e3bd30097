"""Union reads race with everything else, and each answer is a prefix of history: no gap, no duplicate.

Each round picks a table (log or primary key, Iceberg or Paimon) and lets four threads loose on it at once: one writes,
one tiers, compacts or expires, two ask; the log's retention takes whatever has been tiered. Questions are whole reads,
pruned reads, SQL, reads as of a snapshot and as of a time, streams that are cut, replayed, begun again.

UNION_ROUNDS says how many rounds, UNION_SEED with which seed; a failure names both, and what raced.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from query_reads import crossed, rows_of
from server_process import ServerProcess
from union_history import Span
from union_races import HASTY, KEYS, NOW_MS, Question, World, raced_tables, run_rounds

import lakeward
from lakeward.errors import ErrorCode, LakewardError
from lakeward.query.plan.plan import Plan
from lakeward.query.plan.planner import plan_read
from lakeward.query.plan.splits import LogSplit
from lakeward.query.read.data_loss import DataLossError
from lakeward.query.read.read import read_split
from lakeward.query.request.filters import Compare
from lakeward.query.request.request import ReadRequest
from lakeward.query.stream.admission import ReadLimit
from lakeward.query.stream.stream import TableStream
from lakeward.query.stream.stream_offset import StreamOffset

# -- what is asked -----------------------------------------------------------------------------------------------------


def ask_all(world: World, conn: lakeward.Connection, _: random.Random, pause: Callable[[], object]) -> None:
    """The whole table."""
    least = world.history.least()
    world.history.check(read(conn, world.request(), pause), world.history.span(least))


def ask_pruned(world: World, conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
    """Some keys, some columns."""
    limit = chance.randrange(KEYS)
    asked = world.request(filters=(Compare("<", "id", limit),), columns=("seq", "id"))
    least = world.history.least()
    world.history.check(read(conn, asked, pause), world.history.span(least), lambda id_: id_ < limit)


def ask_sql(world: World, conn: lakeward.Connection, chance: random.Random, _: Callable[[], object]) -> None:
    """By DuckDB, which reads files itself."""
    limit = chance.randrange(KEYS)
    least = world.history.least()
    sql = f"SELECT id, seq FROM {world.table.path} WHERE id >= {limit}"
    found = conn.sql(sql, dict(world.request().options)).to_pylist()
    world.history.check(found, world.history.span(least), lambda id_: id_ >= limit)


def ask_snapshot(world: World, conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
    """As a snapshot has it, which may have expired."""
    if not world.snapshots:
        return
    chosen = chance.choice(world.snapshots[-4:])
    try:
        found = read(conn, world.request(options={"scan.snapshot-id": str(chosen)}), pause)
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.LAKE_SNAPSHOT_NOT_EXIST:
            raise
        world.answers["a snapshot had expired"] += 1
        return
    world.history.check(found, world.history.anything())


def ask_time(world: World, conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
    """As it was a moment ago, where that is still known."""
    at_ms = NOW_MS() - chance.choice([1, 20, 200, 1000])
    try:
        found = read(conn, world.request(options={"scan.timestamp-millis": str(at_ms)}), pause)
    except LakewardError as wrong:
        if wrong.code is not ErrorCode.INVALID_TIMESTAMP or "can be read" not in wrong.message:
            raise
        world.answers["a time was gone"] += 1
        return
    try:
        world.history.check(found, world.history.span_at(at_ms))
    except AssertionError as wrong:
        raise AssertionError(f"as of {at_ms}: {wrong}") from wrong


def read(conn: lakeward.Connection, request: ReadRequest, pause: Callable[[], object]) -> list[dict[str, Any]]:
    """Plan, let the world move, read."""
    plan = plan_read(conn, crossed(request))
    pause()
    found: list[dict[str, Any]] = rows_of(conn, request, plan).to_pylist()
    return found


class FollowedStream:
    """A stream of a table, from its beginning on; each batch is checked, some are read twice."""

    def __init__(self, world: World, conn: lakeward.Connection) -> None:
        self._world = world
        self._request = world.request(options={"scan.deletes": "ignore"})
        least = world.history.least()
        self._at = self._stream(conn).initial()
        self._began: Span = world.history.span(least)
        self._states: dict[int, list[dict[str, Any]]] = {}
        self._prefixes: dict[int, list[int]] = {}
        self._read: dict[int, list[tuple[int, int]]] = {}

    def _stream(self, conn: lakeward.Connection) -> TableStream:
        return TableStream(conn, crossed(self._request))

    def go_on(self, conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
        """The next batch, planned by a stream that knows nothing but its offset."""
        limit = ReadLimit(chance.choice([None, 10, 100, 1000]))
        end = StreamOffset.of_json(json.loads(json.dumps(self._stream(conn).latest(self._at, limit).to_json())))
        plan = self._stream(conn).plan(self._at, end)
        pause()
        state, rows = self._rows(conn, plan)
        if chance.random() < 0.3:
            again = self._rows(conn, self._stream(conn).plan(self._at, end))
            assert [sorted(map(repr, part)) for part in again] == [sorted(map(repr, part)) for part in (state, rows)]
        self._at = end
        self._check(state, rows)

    def _rows(self, conn: lakeward.Connection, plan: Plan) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """The rows of states, and those of changes."""
        keyed = self._world.history.keyed
        found: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
        for split in plan.splits:
            is_change = isinstance(split, LogSplit) or not keyed
            for batch in read_split(conn, crossed(self._request), split):
                found[is_change].extend(batch.to_pylist())
        return found

    def _check(self, state: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
        history = self._world.history
        for row in rows:
            self._read.setdefault(history.bucket_of(row["id"]), []).append((row["id"], row["seq"]))
        if not history.keyed:
            flat = [{"id": i, "seq": s} for found in self._read.values() for i, s in found]
            history.check(flat, history.anything())
            return
        for row in state:
            self._states.setdefault(history.bucket_of(row["id"]), []).append(row)
        for number, (low, high) in self._began.items():
            if any(p.is_state for id_, p in self._at.buckets.items() if id_.bucket == number):
                continue
            if number not in self._prefixes:
                one = {n: (low, high) if n == number else (0, 0) for n in self._began}
                self._prefixes[number] = history.check(self._states.get(number, ()), one)[number]
            read = self._read.get(number, [])
            # A key that came and went leaves a state as it was: the rows that follow tell which it is.
            fit = [count for count in self._prefixes[number] if history.are_written(number, count, read)]
            assert fit, f"bucket {number}: from changes {self._prefixes[number]} on, history does not have {read[-9:]}"
            self._prefixes[number] = fit


def follow(world: World, conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
    """Go on with a stream, or begin a new one."""
    try:
        if id(conn) not in world.streams or chance.random() < 0.3:
            world.streams[id(conn)] = FollowedStream(world, conn)
        world.streams[id(conn)].go_on(conn, chance, pause)
    except DataLossError:
        if not world.history.keyed:  # the lake has all rows of a log, but not all changes of a key
            raise
        world.answers["retention passed a stream"] += 1
        world.streams.pop(id(conn), None)


QUESTIONS = [ask_all, ask_all, ask_pruned, ask_sql, ask_snapshot, ask_time]


def chosen(chance: random.Random) -> Question:
    """One of them, or a stream goes on."""
    return follow if chance.random() < 0.3 else chance.choice(QUESTIONS)


@pytest.fixture
def worlds(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[list[World]]:
    """Tables of both kinds in both formats, on a server that lets rows go as soon as it may."""
    with raced_tables(new_server(**HASTY), tmp_path, ["iceberg", "paimon"]) as made:
        yield made


@pytest.mark.crash
@pytest.mark.timeout(7200)
def test_every_answer_is_a_prefix_of_history(worlds: list[World]) -> None:
    """Whatever races; and at the end, when all is quiet, every table and stream has everything."""
    conns = [lakeward.connect(worlds[0].lake.bootstrap) for _ in range(2)]
    try:
        run_rounds(worlds, conns, chosen)
        for world in worlds:
            _check_quiet(world, conns[0])
    finally:
        for conn in conns:
            conn.close()
    print(*(f"{w.table.path}: {dict(w.answers)}" for w in worlds), sep="\n")


def _check_quiet(world: World, conn: lakeward.Connection) -> None:
    """Nothing moves any more: everything is there, in one read and in one stream."""
    now = world.history.span(world.history.least())
    world.history.check(read(conn, world.request(), lambda: None), now)
    stream = FollowedStream(world, conn)
    stream.go_on(conn, random.Random(0), lambda: None)
