"""Tables that everything happens to at once: rows come, rounds commit, files are compacted or expire, people ask."""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalog_process import CatalogProcess
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse
from union_history import Change, History

import lakeward
from lakeward.errors import LakewardError, RetriableError
from lakeward.lake.conflict import LakeConflictError
from lakeward.query.request.request import ReadRequest
from lakeward.runtime.clock import SystemClock

ROUNDS = int(os.environ.get("UNION_ROUNDS", "20"))
SEED = int(os.environ.get("UNION_SEED") or random.SystemRandom().randrange(2**32))
KEYS = 200
NOW_MS = SystemClock().now_ms
#: Options of a server that lets rows go as soon as it may.
HASTY = {
    "log__retention__check_interval": "50ms",
    "log__retention__roll_active_segment__enabled": "true",
    "log__segment__file_size": "4kb",
    "kv__snapshot__interval": "200ms",
}
_ATTEMPTS = 8
_FAR_MS = 10 * 86_400_000


@dataclass
class World:
    """One table: its history, its lake, and the streams that follow it."""

    lake: Warehouse
    catalog: CatalogProcess
    table: lakeward.Table
    history: History
    answers: Counter[str] = field(default_factory=Counter)
    snapshots: list[int] = field(default_factory=list)
    #: Of each who asks, by connection.
    streams: dict[int, Any] = field(default_factory=dict)

    def request(self, **asked: Any) -> ReadRequest:
        """A read that knows where the lake is."""
        given = {"lake.warehouse": str(self.lake.directory), **asked.pop("options", {})}
        return ReadRequest.of_name(str(self.table.path), options=given, **asked)


#: Asks, lets the world move, and looks at the answer.
Question = Callable[[World, lakeward.Connection, random.Random, Callable[[], object]], None]


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
                opened.expire(NOW_MS() + chance.choice([0, _FAR_MS]))
        except LakeConflictError:
            done.append("(overtaken)")
    return " ".join(done)


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


def asked(
    question: Question, world: World, conn: lakeward.Connection, chance: random.Random, kept: threading.Event
) -> str:
    """One question; it is asked again while it is told to ask again."""
    waits = chance.random() < 0.4
    for attempt in range(_ATTEMPTS):
        try:
            question(world, conn, chance, kept.wait if waits else lambda: None)
            world.answers[question.__name__] += 1
            return question.__name__ + (", slowly" if waits else "")
        except RetriableError:
            world.answers["asked again"] += 1
            if attempt == _ATTEMPTS - 1:
                raise
        except (LakewardError, AssertionError) as wrong:
            raise AssertionError(f"{question.__name__}{', slowly' * waits}: {wrong}") from wrong
    raise AssertionError("the last attempt returns or raises")


def run_rounds(
    worlds: Sequence[World], conns: Sequence[lakeward.Connection], choose: Callable[[random.Random], Question]
) -> None:
    """ROUNDS times: one writes, one keeps house, and each connection asks one question."""
    print(f"UNION_SEED={SEED} UNION_ROUNDS={ROUNDS}")
    chance = random.Random(SEED)
    for number in range(ROUNDS):
        world = worlds[number % len(worlds)] if number < 2 * len(worlds) else chance.choice(worlds)
        race = Race(f"UNION_SEED={SEED}, round {number}, {world.table.path}:")
        seeds = [random.Random(chance.random()) for _ in range(2 + len(conns))]
        race.run("write", lambda w=world, c=seeds[0]: write(w, c))  # type: ignore[misc]
        race.run("keep", lambda w=world, c=seeds[1]: keep(w, c))  # type: ignore[misc]
        for conn, own in zip(conns, seeds[2:], strict=True):
            race.run("ask", lambda w=world, c=own, by=conn, r=race: asked(choose(c), w, by, c, r.kept))  # type: ignore[misc]
        race.finish()


@contextmanager
def raced_tables(server: ServerProcess, directory: Path, formats: Sequence[str]) -> Iterator[list[World]]:
    """Tables of both kinds in each format, and a catalog of them."""
    lake = Warehouse(server.bootstrap, directory / "lake")
    lake.conn.create_database("db")
    where = ("--warehouse", str(directory / "lake"), "--refresh", "0 s", "--keep", "5 s")
    with CatalogProcess(server.bootstrap, directory / "catalog.log", *where) as rest:
        yield [made(lake, rest, name, keyed=keyed) for name in formats for keyed in (False, True)]
    assert "Traceback" not in rest.log_text, rest.log_text[-8000:]
    lake.close()
    assert "Traceback" not in server.log_text, server.log_text[-8000:]


def made(lake: Warehouse, rest: CatalogProcess, lake_format: str, *, keyed: bool) -> World:
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
    return World(lake, rest, table, history)
