"""Tables as they are now, through the REST catalog, race with everything else: each answer is a prefix of history.

As test_union_model does it for our own reads: one writes, one tiers, compacts or expires, two ask, and the log's
retention takes whatever has been tiered. Who asks are pyiceberg and DuckDB, which never heard of us.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyiceberg.exceptions import RESTError
from server_process import ServerProcess
from union_races import HASTY, KEYS, Question, World, raced_tables, run_rounds

import lakeward
from lakeward.query.lake.overtaken import OvertakenError


def ask_all(world: World, _conn: lakeward.Connection, __: random.Random, pause: Callable[[], object]) -> None:
    """By pyiceberg: the table is loaded, the world moves, its files are read."""
    least = world.history.least()
    with perhaps_overtaken():
        told = world.catalog.pyiceberg().load_table(f"{world.table.path}$now")
        span = world.history.span(least)
        pause()
        found = told.scan(selected_fields=("id", "seq")).to_arrow().to_pylist()
    world.history.check(found, span)


def ask_pruned(world: World, _conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
    """Some keys, by pyiceberg, of the namespace."""
    limit = chance.randrange(KEYS)
    least = world.history.least()
    with perhaps_overtaken():
        told = world.catalog.pyiceberg().load_table(("now", *str(world.table.path).split(".")))
        span = world.history.span(least)
        pause()
        found = told.scan(row_filter=f"id < {limit}", selected_fields=("id", "seq")).to_arrow().to_pylist()
    world.history.check(found, span, lambda id_: id_ < limit)


def ask_duckdb(world: World, _conn: lakeward.Connection, chance: random.Random, pause: Callable[[], object]) -> None:
    """By DuckDB, twice in a transaction, in which nothing moves."""
    limit = chance.randrange(KEYS)
    database, table = str(world.table.path).split(".")
    question = f'SELECT id, seq FROM lake.{database}."{table}$now" WHERE id >= {limit}'
    with world.catalog.duckdb() as duck, perhaps_overtaken():
        duck.execute("BEGIN")
        least = world.history.least()
        found = duck.execute(question).to_arrow_table().to_pylist()
        span = world.history.span(least)
        pause()
        again = duck.execute(question).to_arrow_table().to_pylist()
    assert sorted(map(repr, again)) == sorted(map(repr, found))
    world.history.check(found, span, lambda id_: id_ >= limit)


@contextmanager
def perhaps_overtaken() -> Iterator[None]:
    """Committed files may have expired while they were read: then the table is to be loaded again."""
    import duckdb

    try:
        yield
    except (OSError, RESTError, duckdb.IOException, duckdb.HTTPException) as wrong:
        if isinstance(wrong, RESTError) and "ServiceUnavailable" not in str(wrong):
            raise AssertionError(str(wrong)) from wrong
        raise OvertakenError(f"through REST: {wrong}") from wrong


def chosen(chance: random.Random) -> Question:
    """One of them."""
    return chance.choice([ask_all, ask_pruned, ask_duckdb])


@pytest.fixture
def worlds(new_server: Callable[..., ServerProcess], tmp_path: Path) -> Iterator[list[World]]:
    """A log and a primary key table, on a server that lets rows go as soon as it may."""
    with raced_tables(new_server(**HASTY), tmp_path, ["iceberg"]) as made:
        yield made


@pytest.mark.crash
@pytest.mark.timeout(7200)
def test_every_answer_through_rest_is_a_prefix_of_history(worlds: list[World]) -> None:
    """Whatever races; and at the end, when all is quiet, everything is there."""
    conns = [lakeward.connect(worlds[0].lake.bootstrap) for _ in range(2)]
    run_rounds(worlds, conns, chosen)
    for world in worlds:
        for ask in (ask_all, ask_duckdb):
            ask(world, conns[0], random.Random(0), lambda: None)
    for conn in conns:
        conn.close()
    print(*(f"{w.table.path}: {dict(w.answers)}" for w in worlds), sep="\n")
