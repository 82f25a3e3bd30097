"""What a connection keeps of hot rows between queries never shows: each answer is what a new connection says."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

import lakeward
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.port import LakeFile
from lakeward.model.acl import Acl, AclFilter, Operation, Resource
from lakeward.model.principal import Principal
from lakeward.query.duckdb.duck_tables import DuckTable
from lakeward.query.duckdb.file_sql import local_path
from lakeward.query.duckdb.hot_rows import HotLoader
from lakeward.query.duckdb.hot_tables import KeptTable, hot_tables_of
from lakeward.query.duckdb.sql_views import PlannedView
from lakeward.query.lake.lake_cache import LakeCache
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.server.access.known.users import new_user
from lakeward.server.access.known.users_file import USERS_FILE, write_users

pytestmark = pytest.mark.slow

_SQL = (
    "SELECT count(*) AS n, sum(id) AS ids, sum(a) AS a FROM {0}",
    "SELECT x.b AS b, count(*) AS n FROM {0} x JOIN {0} y ON x.id = y.id WHERE y.a > 20 GROUP BY x.b ORDER BY x.b",
    "SELECT sum(a) AS a FROM {0} WHERE id < 40",
)


@pytest.fixture
def lake(server: ServerProcess, tmp_path: Path) -> Iterator[Warehouse]:
    """A warehouse whose connection knows it."""
    opened = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
    yield opened
    opened.close()


@pytest.fixture
def is_made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Texts of views that DuckDB is told of."""
    told: list[str] = []
    create = PlannedView.create

    def look(self: PlannedView) -> None:
        before = dict(self._made)
        create(self)
        told.extend(text for ref, text in self._made.items() if before.get(ref) != text)

    monkeypatch.setattr(PlannedView, "create", look)
    return told


@pytest.mark.covering
@pytest.mark.parametrize("is_keyed", [False, True], ids=["log", "keys"])
@pytest.mark.parametrize("lake_format", ["iceberg", "paimon"])
def test_answers_are_those_of_a_new_connection(
    lake: Warehouse, database: str, lake_format: str, is_keyed: bool
) -> None:
    """Through appends, updates, deletes, rounds and a new column."""
    name = f"{database}.kept"
    table = lake.conn.create_table(
        name,
        "id BIGINT NOT NULL, a INT, b STRING",
        primary_key=["id"] if is_keyed else [],
        buckets=2,
        properties={**TIERED, "table.datalake.format": lake_format},
    )
    chance = random.Random(1)
    put = table.upsert if is_keyed else table.append
    put([{"id": i, "a": i, "b": str(i % 5)} for i in range(100)])
    lake.round(table)
    for step in range(12):
        ids = chance.sample(range(140), 15)
        new = {"c": step} if step > 7 else {}
        put([{"id": i, "a": step + i, "b": str(i % 7), **new} for i in ids])
        if is_keyed:
            table.delete([{"id": i} for i in chance.sample(ids, 4)])
        if step in {4, 9}:
            lake.round(table)
        if step == 7:
            lake.conn.alter_table(name, add_columns="c INT")
            table.refresh()
        _assert_as_new(lake, name)
    assert (is_keyed and lake_format == "paimon") or hot_tables_of(lake.conn.inner).bytes > 0


@pytest.mark.parametrize("is_keyed", [False, True], ids=["log", "keys"])
def test_a_log_that_lost_rows_and_grew_past_them_is_read_anew(tmp_path: Path, is_keyed: bool) -> None:
    """A data directory is put back as it was, and others write at the same offsets before the next query."""
    with ServerProcess(tmp_path / "data") as server:
        lake = Warehouse(server.bootstrap, tmp_path / "lake", is_told=True)
        lake.conn.create_database("d")
        table = lake.conn.create_table(
            "d.lost",
            "id BIGINT NOT NULL, a INT, b STRING",
            primary_key=["id"] if is_keyed else [],
            buckets=2,
            properties=TIERED,
        )
        put = table.upsert if is_keyed else table.append
        put([{"id": i, "a": i, "b": "cold"} for i in range(50)])
        lake.round(table)
        put([{"id": i, "a": i, "b": "hot"} for i in range(40, 60)])
        server.stop()
        shutil.copytree(server.data_dir, tmp_path / "backup")
        server.start()
        put([{"id": i, "a": i, "b": "lost"} for i in range(45, 80)])
        _assert_as_new(lake, "d.lost")
        server.kill()
        shutil.rmtree(server.data_dir)
        shutil.copytree(tmp_path / "backup", server.data_dir)
        server.start()
        with lakeward.connect(server.bootstrap) as other:
            again = other.table("d.lost")
            rows = [{"id": i, "a": 3 * i, "b": "new"} for i in range(30, 130)]
            (again.upsert if is_keyed else again.append)(rows)
        _assert_as_new(lake, "d.lost")
        lake.close()


@pytest.mark.parametrize("what", ["partition", "table"])
def test_what_is_made_anew_under_its_name_is_read_anew(lake: Warehouse, database: str, what: str) -> None:
    """It has as many rows as what was there before, and more."""
    name = f"{database}.anew"

    def make() -> lakeward.Table:
        return lake.conn.create_table(
            name, "id BIGINT NOT NULL, a INT, b STRING, p STRING NOT NULL", partition_by=["p"], buckets=1
        )

    table = make()
    for step in range(3):
        table.create_partition({"p": "x"}, exist_ok=True)
        table.append([{"id": i, "a": step, "b": str(step), "p": "x"} for i in range(10 + step)])
        _assert_as_new(lake, name)
        if what == "partition":
            table.drop_partition({"p": "x"})
        else:
            lake.conn.drop_table(name)
            table = make()


@pytest.mark.covering
@pytest.mark.parametrize("names", [("filename", "x"), ("FileName", "file_row_number")])
@pytest.mark.parametrize("is_keyed", [False, True], ids=["log", "keys"])
def test_columns_may_be_called_as_places_of_rows_are(
    lake: Warehouse, database: str, is_keyed: bool, names: tuple[str, str]
) -> None:
    """Updates before the last round are deletes by position in the lake, those after it are hot."""
    name, (one, other) = f"{database}.places", names
    table = lake.conn.create_table(
        name,
        f"id BIGINT NOT NULL, {one} STRING, {other} BIGINT",
        primary_key=["id"] if is_keyed else [],
        buckets=1,
        properties=TIERED,
    )
    put = table.upsert if is_keyed else table.append
    want: list[tuple[int, str, int]] = []
    for step, ids in enumerate((range(100), range(20, 40), range(30, 50))):
        rows = [(i, f"f{step}", step * 1000 + i) for i in ids]
        put([dict(zip(("id", one, other), row, strict=True)) for row in rows])
        want = sorted([row for row in want if not (is_keyed and row[0] in ids)] + rows)
        for _ in range(2):
            found = lake.conn.sql(f"SELECT id, {one}, {other} FROM {name} ORDER BY ALL").to_pylist()
            assert [tuple(row.values()) for row in found] == want
        if step < 2:
            lake.round(table)
            found = lake.conn.sql(f"SELECT id, {one}, {other} FROM {name} ORDER BY ALL").to_pylist()
            assert [tuple(row.values()) for row in found] == want


def test_a_cold_file_that_goes_while_keys_are_looked_for_makes_a_new_plan(
    lake: Warehouse, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compaction or expiry removed it; the file comes back with the new plan, as its rows do in another one."""
    name = f"{database}.going"
    table = lake.conn.create_table(
        name, "id BIGINT NOT NULL, a INT, b STRING", primary_key=["id"], buckets=1, properties=TIERED
    )
    table.upsert([{"id": i, "a": i, "b": "cold"} for i in range(50)])
    lake.round(table)
    table.upsert([{"id": i, "a": 0, "b": "hot"} for i in range(10)])
    moved: list[Path] = []
    look, forget = HotLoader._lookups, LakeCache.forget_readers

    def look_too_late(self: HotLoader, files: Iterable[LakeFile], keys: DuckTable) -> list[str]:
        files = list(files)
        if not moved:
            moved.append(Path(local_path(files[0].path)))
            moved[0].rename(moved[0].with_suffix(".away"))
        return look(self, files, keys)

    def forget_and_return(self: LakeCache) -> None:
        moved[0].with_suffix(".away").rename(moved[0])
        forget(self)

    monkeypatch.setattr(HotLoader, "_lookups", look_too_late)
    monkeypatch.setattr(LakeCache, "forget_readers", forget_and_return)
    _assert_as_new(lake, name)
    assert moved
    assert moved[0].exists()


@pytest.mark.parametrize("is_keyed", [False, True], ids=["log", "keys"])
def test_threads_that_ask_the_same_while_rows_come_never_see_fewer(
    lake: Warehouse, database: str, is_keyed: bool
) -> None:
    """Each has views of its own, made anew whenever the table has moved."""
    name = f"{database}.busy"
    key = ["id"] if is_keyed else []
    table = lake.conn.create_table(name, "id BIGINT NOT NULL", primary_key=key, buckets=2, properties=TIERED)
    put = table.upsert if is_keyed else table.append
    put([{"id": i} for i in range(20)])
    lake.round(table)
    known = 20
    over = Event()

    def ask(_: int) -> int:
        asked = 0
        while not over.is_set() or not asked:
            least = known
            for sql in ("SELECT count(*) AS n FROM {0}", "SELECT count(*) AS n FROM {0} x JOIN {0} y ON x.id = y.id"):
                assert least <= lake.conn.sql(sql.format(name))["n"][0].as_py() <= known + 10
            asked += 1
        return asked

    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(ask, number) for number in range(3)]
        try:
            for step in range(15):
                put([{"id": known + i} for i in range(10)])
                known += 10
                if step == 7:
                    lake.round(table)
        finally:
            over.set()
        assert all(one.result() for one in asked)
    for _ in range(2):
        _assert_as_new(lake, name, "SELECT count(*) AS n FROM {0}")


def test_a_repeated_query_makes_no_view(lake: Warehouse, database: str, is_made: list[str]) -> None:
    """Where nothing moved, all of its views are there; what moved is seen."""
    name = f"{database}.still"
    table = lake.conn.create_table(name, "id BIGINT NOT NULL, a INT", primary_key=["id"], properties=TIERED)
    table.upsert([{"id": i, "a": 1} for i in range(20)])
    lake.round(table)
    table.upsert([{"id": i, "a": 2} for i in range(5)])
    sql = f"SELECT sum(a) AS a FROM {name}"
    for _ in range(3):
        assert lake.conn.sql(sql).to_pylist() == [{"a": 25}]
    is_made.clear()
    assert lake.conn.sql(sql).to_pylist() == [{"a": 25}]
    assert is_made == []
    table.upsert([{"id": 0, "a": 12}])
    assert lake.conn.sql(sql).to_pylist() == [{"a": 35}]
    assert is_made


def test_kept_rows_need_the_right_to_read(new_server: Callable[..., ServerProcess], tmp_path: Path) -> None:
    """Where it is taken away, the next query of the same connection is refused, though it may still describe."""
    data = tmp_path / "data-0"
    data.mkdir(mode=0o700)
    users = {name: new_user(f"{name}-secret", SystemEntropy(), SystemClock().now_ms()) for name in ("admin", "alice")}
    write_users(LocalFiles(), data / USERS_FILE, users)
    server = new_server(security__protocol__map="FLUSS:SASL", authorizer__enabled="true", super__users="User:admin")
    orders, alice = Resource.table("shop", "orders"), Principal("alice")
    with (
        lakeward.connect(server.bootstrap, user="admin", password="admin-secret") as admin,
        lakeward.connect(server.bootstrap, user="alice", password="alice-secret") as conn,
    ):
        admin.create_database("shop")
        admin.create_table("shop.orders", "id BIGINT", buckets=1).append([{"id": n} for n in range(10)])
        admin.acls.grant([Acl(orders, alice, right) for right in (Operation.READ, Operation.DESCRIBE)])
        asked = "SELECT count(*) AS n FROM shop.orders x JOIN shop.orders y ON x.id = y.id"
        assert conn.sql(asked).to_pylist() == [{"n": 10}]
        assert hot_tables_of(conn.inner).bytes > 0
        admin.acls.revoke([AclFilter(operation=Operation.READ)])
        with pytest.raises(LakewardError) as refused:
            conn.sql(asked)
        assert refused.value.code is ErrorCode.AUTHORIZATION


def _assert_as_new(lake: Warehouse, name: str, *queries: str) -> None:
    with lakeward.connect(lake.bootstrap, lake={"warehouse": str(lake.directory)}) as other:
        for sql in queries or _SQL:
            asked = sql.format(name)
            assert lake.conn.sql(asked).to_pylist() == other.sql(asked).to_pylist(), asked
            assert lake.conn.sql(asked).to_pylist() == other.sql(asked).to_pylist(), asked


def test_one_question_is_enough_for_batches_of_ordinary_size(
    lake: Warehouse, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two logs whose last batches have 2 MB, servers told one: the table was asked for by several questions."""
    table = lake.conn.create_table(f"{database}.large", "id BIGINT, data BYTES", buckets=2, properties=TIERED)
    table.append([{"id": 0, "data": b""}])
    lake.round(table)
    chance = random.Random(1)
    for _ in range(8):  # some come to either bucket
        table.append([{"id": i, "data": chance.randbytes(1000)} for i in range(2000)])
    told: list[bool] = []
    look = KeptTable.seen
    monkeypatch.setattr(KeptTable, "seen", lambda *asked: told.append(look(*asked) is not None) or look(*asked))
    for _ in range(3):
        assert lake.conn.sql(f"SELECT count(*) AS n FROM {table.path}").to_pylist() == [{"n": 16_001}]
    assert told == [True]
