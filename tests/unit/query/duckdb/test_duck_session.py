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

from lakeward.query.duckdb.duck_session import duck_cursor, duck_session


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
    assert left_behind() == []


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_an_instance_of_its_own() -> None:
    """As Spark's workers are made."""
    with duck_session() as duck:
        duck.execute("SELECT 1")
    child = os.fork()
    if not child:
        try:
            with duck_session() as duck:
                ok = duck.execute("SELECT sum(range) FROM range(100000)").fetchone()[0] == 4999950000
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
