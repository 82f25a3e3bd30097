"""What any engine must read through the REST catalog: tables of each kind, hot and cold, equal to our own SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

from busy_tables import COLUMNS as BUSY_COLUMNS
from busy_tables import BusyTables
from every_type import EVERY_TYPE, ROW_OF_EVERY_TYPE
from tiering_runs import TIERED

import lakeward

#: Given to a catalog: each question here is about this very moment.
AT_ONCE = ("--refresh", "0 s")
COLUMNS = ("id", "item", "amount")
_SQL = "id BIGINT NOT NULL, item STRING, amount INT"

Rows = list[tuple[Any, ...]]


class Engine(Protocol):
    """A reader that never heard of us."""

    def committed(self, database: str, table: str) -> str:
        """How it names what is committed."""

    def now(self, database: str, table: str) -> Sequence[str]:
        """How it names the table as it is now, in all the ways it has."""

    def ask(self, question: str) -> Rows:
        """The rows of an answer."""


@dataclass(frozen=True)
class Story:
    """A cluster with a lake, rounds into it, and an engine beside it."""

    conn: lakeward.Connection
    round: Callable[[lakeward.Table], Any]
    engine: Engine
    database: str

    # -- what is compared ---------------------------------------------------------------------------------------------

    def check(self, table: str, columns: Sequence[str] = COLUMNS, where: str = "1 = 1") -> Rows:
        """By every name that the engine has for it, the table is what our own SQL says."""
        told = ", ".join(columns)
        want = ordered(
            tuple(row.values())
            for row in self.conn.sql(f"SELECT {told} FROM {self.database}.{table} WHERE {where}").to_pylist()
        )
        for name in self.engine.now(self.database, table):
            found = ordered(self.engine.ask(f"SELECT {told} FROM {name} WHERE {where}"))
            odd = [pair for a, b in zip(found, want, strict=False) for pair in zip(a, b, strict=True) if a != b]
            assert found == want, (name, [pair for pair in odd if pair[0] != pair[1]][:5])
        return want

    def committed(self, table: str, columns: Sequence[str] = COLUMNS) -> Rows:
        """What the engine finds in the lake."""
        name = self.engine.committed(self.database, table)
        return ordered(self.engine.ask(f"SELECT {', '.join(columns)} FROM {name}"))

    def table(self, name: str, columns: str = _SQL, **given: Any) -> lakeward.Table:
        """A tiered table."""
        given = {"buckets": 2, "properties": TIERED, **given}
        return self.conn.create_table(f"{self.database}.{name}", columns, **given)

    # -- chapters -----------------------------------------------------------------------------------------------------

    def log_and_key(self) -> None:
        """Hot alone, cold and hot, changes over changes; the committed table keeps what it had."""
        log, keyed = self.table("orders"), self.table("keyed", primary_key=["id"])
        for table, put in ((log, log.append), (keyed, keyed.upsert)):
            name = table.path.table
            put(orders(0, 60))
            self.check(name)
            self.round(table)
            put(orders(40, 60, "umbrella"))
            assert len(self.check(name)) == (120 if table is log else 100)
            assert self.committed(name) == ordered(tuple(row.values()) for row in orders(0, 60))
            self.check(name, where="item = 'umbrella' AND amount > 500")
        keyed.delete([{"id": 3}, {"id": 50}])
        keyed.upsert(orders(45, 2, "again"))
        assert len(self.check("keyed")) == 98

    def partitions(self) -> None:
        """Partitions that the lake has, and such that it has not; by key as well."""
        columns = "id BIGINT NOT NULL, dt STRING NOT NULL, item STRING"
        log = self.table("days", columns, partition_by=["dt"])
        keyed = self.table("keyed_days", columns, partition_by=["dt"], primary_key=["id", "dt"])
        for table, put in ((log, log.append), (keyed, keyed.upsert)):
            name = table.path.table
            for day in ("d1", "d2", "d3"):
                table.create_partition({"dt": day})
            put([{"id": i, "dt": f"d{1 + i % 2}", "item": "a"} for i in range(20)])
            self.round(table)
            put([{"id": i, "dt": f"d{1 + i % 3}", "item": "b"} for i in range(10, 40)])
            for where in ("1 = 1", "dt = 'd2'", "dt = 'd3' AND id > 20"):
                self.check(name, ("id", "dt", "item"), where)

    def every_type(self, *, times: bool = True) -> None:
        """A value of each type that Iceberg has, hot and cold; without `times`, but for TIME."""
        columns = EVERY_TYPE if times else EVERY_TYPE.replace("t TIME(3), ", "")
        row = {name: value for name, value in ROW_OF_EVERY_TYPE.items() if times or name != "t"}
        table = self.table("types", f"id BIGINT NOT NULL, {columns}", buckets=1)
        nothing = dict.fromkeys(row)
        table.append([{"id": 1, **row}, {"id": 2, **nothing}])
        self.round(table)
        table.append([{"id": 3, **row}, {"id": 4, **nothing}])
        assert len(self.check("types", ("id", *row))) == 4

    def new_columns(self) -> None:
        """A column is there as soon as the cluster has it, before the lake does and after."""
        table = self.table("grown", primary_key=["id"])
        table.upsert(orders(0, 10))
        self.round(table)
        self.check("grown")
        self.conn.alter_table(f"{self.database}.grown", add_columns="note STRING")
        table.refresh()
        table.upsert([{"id": 5, "item": "c", "amount": 1, "note": "new"}])
        for _ in range(2):
            assert ("c", "new") in [row[1::2] for row in self.check("grown", (*COLUMNS, "note"))]
            self.round(table)

    def busy(self, looks: int = 4) -> None:
        """While rounds commit it is equal whenever no row comes; while rows come it is between before and after."""
        keyed = self.table("busy_keyed", BUSY_COLUMNS, primary_key=["id"])
        log = self.table("busy_log", BUSY_COLUMNS)
        world = BusyTables(keyed, log, self.round, pauses_s=(0.05, 0.3))
        world.write()
        with world.going_on():
            for _ in range(looks):
                for name in self.engine.now(self.database, "busy_log"):
                    told = "SELECT id, n FROM "
                    before = self._own(f"{told}{self.database}.busy_log")
                    seen = self.engine.ask(told + name)
                    after = self._own(f"{told}{self.database}.busy_log")
                    assert set(before) <= set(seen) <= set(after)
                    assert len(before) <= len(seen) <= len(after)
                with world.still:
                    for table in ("busy_log", "busy_keyed"):
                        self.check(table, ("id", "n"))
        assert world.rounds

    def _own(self, question: str) -> Rows:
        return [tuple(row.values()) for row in self.conn.sql(question).to_pylist()]


def orders(first: int, count: int, item: str = "boots") -> list[dict[str, Any]]:
    """Some rows."""
    return [{"id": i, "item": item, "amount": i * 10} for i in range(first, first + count)]


def ordered(rows: Any) -> Rows:
    """Rows in an order, each value by one name whatever the engine calls it."""
    return sorted((tuple(_plain(value) for value in row) for row in rows), key=repr)


def _plain(value: Any) -> Any:
    match value:
        case bytes() | bytearray() | memoryview():
            return bytes(value)
        case dt.datetime():
            return value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        case dt.time():
            return value.isoformat("microseconds")
        case Decimal():
            return value.normalize()
        case dict():
            return sorted((str(k), _plain(v)) for k, v in value.items())
        case list() | tuple():
            if value and all(isinstance(one, tuple) and len(one) == 2 for one in value):  # Arrow's maps
                return sorted((str(k), _plain(v)) for k, v in value)
            return [_plain(one) for one in value]
        case _:
            return value
