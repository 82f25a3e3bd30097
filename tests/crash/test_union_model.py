"""Union reads race with everything else, and each answer is a prefix of history: no gap, no duplicate.

Each round picks a table (log or primary key, Iceberg or Paimon) and lets four threads loose on it at once: one writes,
one tiers, compacts or expires, two ask; the log's retention takes whatever has been tiered. Questions are whole reads,
pruned reads, SQL, reads as of a snapshot and as of a time, and streams that are cut, replayed and begun again.

UNION_ROUNDS says how many rounds, UNION_SEED with which seed; a failure names both, and what raced.
"""

from __future__ import annotations

import json
import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from query_reads import crossed, rows_of
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse
from union_history import Change, History, Span

import lakeward
from lakeward.errors import ErrorCode, LakewardError, RetriableError
from lakeward.lake.conflict import LakeConflictError
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
from lakeward.runtime.clock import SystemClock

ROUNDS = int(os.environ.get("UNION_ROUNDS", "20"))
SEED = int(os.environ.get("UNION_SEED") or random.SystemRandom().randrange(2**32))
KEYS = 200
ATTEMPTS = 8
FAR_MS = 10 * 86_400_000
NOW_MS = SystemClock().now_ms


@dataclass
class World:
    """One table: its history, its lake, and the streams that follow it."""

    lake: Warehouse
    table: lakeward.Table
    history: History
    answers: Counter[str] = field(default_factory=Counter)
    snapshots: list[int] = field(default_factory=list)
    #: Of each who asks, by connection.
    streams: dict[int, FollowedStream] = field(default_factory=dict)

    def request(self, **asked: Any) -> ReadRequest:
        """A read that knows where the lake is."""
        given = {"lake.warehouse": str(self.lake.directory), **asked.pop("options", {})}
        return ReadRequest.of_name(str(self.table.path), options=given, **asked)


# -- what happens to a table -------------------------------------------------------------------------------------------


def write(world: World, chance: random.Random) -> None:
    """A few appends, or upserts and deletes."""
    for _ in range(chance.randrange(1, 9)):
        ids = [chance.randrange(KEYS) for _ in range(chance.randrange(1, 40))]
        is_delete = world.history.keyed and chance.random() < 0.25
        send(world, world.history.made(ids, is_delete=is_delete))


def send(world: World, changes: list[Change]) -> None:
    """Write changes and put them down."""
    rows = [{"id": c.id, "seq": c.seq, "pad": "x" * 20} for c in changes]
    if changes and changes[0].is_delete:
        world.history.write(changes, NOW_MS, lambda: world.table.delete([{"id": c.id} for c in changes]))
    else:
        put = world.table.upsert if world.history.keyed else world.table.append
        world.history.write(changes, NOW_MS, lambda: put(rows))


def keep(world: World, chance: random.Random) -> str:
    """Tier, compact, expire."""
    done = []
    for work in chance.choice(
        [["tier"], ["tier", "tier"], ["tier", "compact"], ["tier", "expire"], ["compact", "expire"]]
    ):
        done.append(work)
        try:
            if work == "tier":
                made = world.lake.round(world.table).snapshot_id
                world.snapshots += [] if made is None else [made]
                continue
            opened: Any = world.lake.context().catalogs.of(world.table.info).ensure(world.table.info)
            if work == "compact":
                opened.compact()
            else:
                opened.expire(NOW_MS() + chance.choice([0, FAR_MS]))
        except LakeConflictError:
            done.append("(overtaken)")
    return " ".join(done)


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


# -- rounds ------------------------------------------------------------------------------------------------------------


class Race:
    """Some work on threads at once; the first failure is told with what else was going on."""

    def __init__(self, told: str) -> None:
        self._told = [told]
        self._failed: list[BaseException] = []
        self._threads: list[threading.Thread] = []
        self.kept = threading.Event()

    def run(self, name: str, work: Callable[[], object]) -> None:
        """Begin some work."""

        def guarded() -> None:
            try:
                said = work()
                self._told.append(f"{name}: {said}" if said else name)
            except BaseException as wrong:  # noqa: BLE001 - told by the test's own thread
                self._told.append(f"{name}: FAILED")
                self._failed.append(wrong)
            finally:
                if name == "keep":
                    self.kept.set()

        self._threads.append(threading.Thread(target=guarded))

    def finish(self) -> None:
        """Let them run, and wait for all."""
        for thread in self._threads:
            thread.start()
        for thread in self._threads:
            thread.join()
        if self._failed:
            raise AssertionError("\n  ".join([*self._told, *str(self._failed[0]).splitlines()])) from self._failed[0]


def asked(world: World, conn: lakeward.Connection, chance: random.Random, kept: threading.Event) -> str:
    """One question; it is asked again while it is told to ask again."""
    question = follow if chance.random() < 0.3 else chance.choice(QUESTIONS)
    waits = chance.random() < 0.4
    for attempt in range(ATTEMPTS):
        try:
            question(world, conn, chance, kept.wait if waits else lambda: None)
            world.answers[question.__name__] += 1
            return question.__name__ + (", slowly" if waits else "")
        except RetriableError:
            world.answers["asked again"] += 1
            if attempt == ATTEMPTS - 1:
                raise
        except (LakewardError, AssertionError) as wrong:
            raise AssertionError(f"{question.__name__}{', slowly' * waits}: {wrong}") from wrong
    raise AssertionError("the last attempt returns or raises")


@pytest.fixture
def worlds(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[list[World]]:
    """Tables of both kinds in both formats, on a server that lets rows go as soon as it may."""
    server = new_server(
        log__retention__check_interval="50ms",
        log__retention__roll_active_segment__enabled="true",
        log__segment__file_size="4kb",
        kv__snapshot__interval="200ms",
    )
    lake = Warehouse(server.bootstrap, tmp_path / "lake")
    lake.conn.create_database("db")
    yield [made(lake, lake_format, keyed=keyed) for lake_format in ("iceberg", "paimon") for keyed in (False, True)]
    lake.close()
    assert "Traceback" not in server.log_text, server.log_text[-8000:]


def made(lake: Warehouse, lake_format: str, *, keyed: bool) -> World:
    """A table with a row of every key, which tells what bucket a key has."""
    table = lake.conn.create_table(
        f"db.{lake_format}_{'keyed' if keyed else 'log'}",
        "id BIGINT NOT NULL, seq BIGINT, pad STRING",
        primary_key=["id"] if keyed else [],
        bucket_by=["id"],
        buckets=2,
        properties={
            **TIERED,
            "table.datalake.format": lake_format,
            "table.log.ttl": "300ms",
        },
        custom_properties={"paimon.snapshot.num-retained.min": "2"} if lake_format == "paimon" else {},
    )
    rows, sent_ms = [{"id": i, "seq": -1, "pad": ""} for i in range(KEYS)], NOW_MS()
    (table.upsert if keyed else table.append)(rows)
    told = table.scan(["id"], metadata_columns=True).to_arrow().to_pylist()
    history = History(keyed=keyed, bucket_of={row["id"]: row["_bucket"] for row in told})
    history.write([Change(i, -1) for i in range(KEYS)], NOW_MS, lambda: None, sent_ms)
    return World(lake, table, history)


@pytest.mark.crash
@pytest.mark.timeout(7200)
def test_every_answer_is_a_prefix_of_history(worlds: list[World]) -> None:
    """Whatever races; and at the end, when all is quiet, every table and stream has everything."""
    print(f"UNION_SEED={SEED} UNION_ROUNDS={ROUNDS}")
    chance = random.Random(SEED)
    conns = [lakeward.connect(worlds[0].lake.bootstrap) for _ in range(2)]
    try:
        for number in range(ROUNDS):
            world = worlds[number % len(worlds)] if number < 2 * len(worlds) else chance.choice(worlds)
            race = Race(f"UNION_SEED={SEED}, round {number}, {world.table.path}:")
            seeds = [random.Random(chance.random()) for _ in range(4)]
            race.run("write", lambda w=world, c=seeds[0]: write(w, c))  # type: ignore[misc]
            race.run("keep", lambda w=world, c=seeds[1]: keep(w, c))  # type: ignore[misc]
            for conn, own in zip(conns, seeds[2:], strict=True):
                race.run("ask", lambda w=world, c=own, by=conn, r=race: asked(w, by, c, r.kept))  # type: ignore[misc]
            race.finish()
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
