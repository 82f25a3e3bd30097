"""One DuckDB for the process, a database of its own for each query."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import duckdb
import pyarrow as pa
import pytest

from lakeward.query.duckdb.duck_session import IDLE_MAX, duck_cursor, duck_session, kept_session


def left_behind() -> list[str]:
    """Databases of queries that are still there."""
    with duck_cursor() as duck:
        names = [row[0] for row in duck.execute("SELECT database_name FROM duckdb_databases()").fetchall()]
    return [name for name in names if name.startswith("query_")]


def test_queries_side_by_side_do_not_see_each_other() -> None:
    """Each has a view of the same name."""
    together = Barrier(4)

    def answer(number: int) -> int:
        with duck_session() as duck:
            duck.execute('CREATE SCHEMA "shop"')
            duck.register("_rows", pa.table({"n": [number]}))
            duck.execute('CREATE VIEW "shop"."t" AS SELECT n FROM _rows')
            together.wait(30)
            found: int = duck.execute("SELECT n FROM shop.t").fetchone()[0]
            return found

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(answer, range(4))) == [0, 1, 2, 3]


def test_nothing_is_left_of_a_query() -> None:
    """Neither of one that failed, nor of one whose answer nobody took."""
    rows = pa.table({"n": range(100_000)})
    gone = weakref.ref(rows)
    before = left_behind()
    with duck_session() as duck:
        duck.register("_rows", rows)
        duck.execute("CREATE VIEW t AS SELECT * FROM _rows")
        duck.execute("SELECT * FROM t")
        with pytest.raises(duckdb.Error):
            duck.execute("SELECT nothing FROM t")
        duck.execute("SELECT * FROM t")
    del rows
    gc.collect()
    assert gone() is None
    assert left_behind() == before


def test_a_database_waits_for_the_next_query_of_the_same_tables() -> None:
    """With its views, which others do not see; not with what else a query leaves in a connection."""
    with kept_session(frozenset({"kept.a"})) as (duck, views):
        duck.execute("CREATE VIEW a AS SELECT 1 AS n")
        views["a"] = "SELECT 1 AS n"
        duck.execute("CREATE TEMP TABLE mine AS SELECT 1")
        duck.register("given", pa.table({"n": [1]}))
        with kept_session(frozenset({"kept.a"})) as (other, others_views):  # at the same time
            assert others_views == {}
            with pytest.raises(duckdb.CatalogException):
                other.execute("FROM a")
    with kept_session(frozenset({"kept.b"})) as (duck, views), pytest.raises(duckdb.CatalogException):
        duck.execute("FROM a")
    with kept_session(frozenset({"kept.a"})) as (duck, views):
        assert views == {"a": "SELECT 1 AS n"}
        assert duck.execute("FROM a").fetchall() == [(1,)]
        for name in ("mine", "given"):
            with pytest.raises(duckdb.CatalogException):
                duck.execute(f"FROM {name}")


def test_a_database_of_a_query_that_failed_is_not_kept() -> None:
    """Nobody knows what is in it."""
    before = left_behind()
    with pytest.raises(duckdb.CatalogException), kept_session(frozenset({"kept.c"})) as (duck, _):
        duck.execute("FROM nothing")
    assert left_behind() == before


def test_few_databases_wait() -> None:
    """The one that has waited longest goes."""
    for number in range(IDLE_MAX + 3):
        with kept_session(number) as (duck, views):
            duck.execute("CREATE VIEW v AS SELECT 1")
            views["v"] = "SELECT 1"
    assert len(left_behind()) == IDLE_MAX
    with kept_session(2) as (_, views):
        assert views == {}
    with kept_session(IDLE_MAX + 2) as (_, views):
        assert views


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_an_instance_of_its_own() -> None:
    """As Spark's workers are made."""
    with kept_session("forked") as (duck, views):
        views["v"] = "SELECT 1"
    child = os.fork()
    if not child:
        try:
            with kept_session("forked") as (duck, views):
                ok = not views and duck.execute("SELECT sum(range) FROM range(100000)").fetchone()[0] == 4999950000
        finally:
            os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_rows_are_given_without_loading_pandas_which_works_when_it_is_loaded_later() -> None:
    """Giving rows to DuckDB does not load pandas; whoever imports it afterwards has all of it, in DuckDB and Arrow."""
    code = (
        "import sys, pyarrow as pa\n"
        "from lakeward.query.duckdb.duck_session import duck_session, give_rows\n"
        "with duck_session() as duck:\n"
        "    give_rows(duck, 'x', pa.Table.from_arrays([pa.nulls(3, pa.int64())], names=['a']))\n"
        "    assert duck.execute('SELECT count(*) FROM x').fetchone() == (3,)\n"
        "    assert 'pandas' not in sys.modules\n"
        "    import pandas as pd\n"
        "    frame = pd.DataFrame({'q': [1, 2]})\n"
        "    duck.register('y', frame)\n"
        "    assert duck.execute('SELECT sum(q) FROM y').fetchone() == (3,)\n"
        "    assert duck.execute('SELECT 1 AS a').df().shape == (1, 1)\n"
        "assert pa.table({'a': [1]}).to_pandas().shape == (1, 1)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
