"""Every type of PostgreSQL, copied and streamed: both give the same Arrow values, and they are what psycopg answers."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from postgres import Database

from lakeward.capture.port import Chunk, TableRows
from lakeward.capture.postgres.postgres_database import PostgresDatabase
from lakeward.errors import InvalidError

_AS_IT_IS: Callable[[Any], Any] = lambda value: value  # noqa: E731
_UTC = ZoneInfo("UTC")

#: Type, our type, values as SQL, and how psycopg's answer becomes ours where that is not the same.
#: `::text` of the server is the oracle of what has no type of ours.
TYPES: list[tuple[str, str, list[str], Callable[[Any], Any] | None]] = [
    ("smallint", "SMALLINT", ["-32768", "32767"], _AS_IT_IS),
    ("integer", "INT", ["-2147483648", "7"], _AS_IT_IS),
    ("bigint", "BIGINT", ["-9223372036854775808", "9223372036854775807"], _AS_IT_IS),
    ("oid", "BIGINT", ["4294967295"], _AS_IT_IS),
    ("numeric(10,2)", "DECIMAL(10, 2)", ["-99999999.99", "0.10"], _AS_IT_IS),
    ("numeric(38,10)", "DECIMAL(38, 10)", ["9999999999999999999999999999.9999999999"], _AS_IT_IS),
    ("numeric(3,-2)", "DECIMAL(5, 0)", ["12345"], _AS_IT_IS),
    ("numeric(60,2)", "STRING", ["1.50"], None),
    ("numeric", "STRING", ["3.141592653589793238462643383279502884197", "'NaN'", "'-Infinity'"], None),
    ("real", "FLOAT", ["0.1", "'NaN'", "'-Infinity'", "3.4028235e38"], _AS_IT_IS),
    ("double precision", "DOUBLE", ["0.1", "'NaN'", "'Infinity'", "5e-324"], _AS_IT_IS),
    ("boolean", "BOOLEAN", ["true", "false"], _AS_IT_IS),
    ("text", "STRING", [r"E'tab\t nl\n cr\r \\ \\N quote\" ''é😀'", "''", r"E'\\N'"], _AS_IT_IS),
    ("varchar(9)", "STRING", ["'abc'"], _AS_IT_IS),
    ("char(5)", "CHAR(5)", ["'ab'"], _AS_IT_IS),
    ('"char"', "STRING", ["'x'"], None),
    ("name", "STRING", ["'a name'"], _AS_IT_IS),
    ("bytea", "BYTES", [r"'\x00ff10'", "''"], bytes),
    ("date", "DATE", ["'2024-02-29'", "'0001-01-01'", "'9999-12-31'"], _AS_IT_IS),
    ("time", "STRING", ["'23:59:59.999999'", "'24:00:00'"], None),
    ("time(3)", "TIME(3)", ["'23:59:59.999'", "'00:00:00'"], _AS_IT_IS),
    ("timetz", "STRING", ["'10:00:00+02'"], None),
    ("timestamp", "TIMESTAMP(6)", ["'2024-01-02 03:04:05.678901'", "'1900-01-01'"], _AS_IT_IS),
    ("timestamp(0)", "TIMESTAMP(0)", ["'2024-01-02 03:04:05'"], _AS_IT_IS),
    ("timestamptz", "TIMESTAMP_LTZ(6)", ["'2024-06-02 03:04:05.5+02'"], lambda value: value.astimezone(_UTC)),
    ("timestamptz(3)", "TIMESTAMP_LTZ(3)", ["'2024-06-02 03:04:05.123+00'"], lambda value: value.astimezone(_UTC)),
    ("interval", "STRING", ["'1 year 2 mons 3 days 04:05:06.7'", "'-1 day'"], None),
    ("uuid", "STRING", ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'"], str),
    ("json", "STRING", ['\'{"a":  [1, "é\\n"]}\''], None),
    ("jsonb", "STRING", ['\'{"b": 1, "a": null}\''], None),
    ("inet", "STRING", ["'192.168.0.1/24'"], None),
    ("cidr", "STRING", ["'10.0.0.0/8'"], None),
    ("macaddr", "STRING", ["'08:00:2b:01:02:03'"], None),
    ("bit(4)", "STRING", ["B'1010'"], None),
    ("varbit", "STRING", ["B'101'"], None),
    ("money", "STRING", ["'12.34'"], None),
    ("int4range", "STRING", ["'[1,5)'", "'empty'"], None),
    ("point", "STRING", ["'(1,2.5)'"], None),
    ("box", "STRING", ["'((1,2),(3,4))'"], None),
    ("tsvector", "STRING", ["'a fat cat'"], None),
    ("mood", "STRING", ["'sad'"], None),
    ("price", "DECIMAL(8, 2)", ["1.25"], _AS_IT_IS),
    ("pair", "STRING", ["ROW(1, 'a b')"], None),
    ("int[]", "ARRAY<INT>", ["'{1,NULL,-3}'", "'{}'", "'[2:3]={7,8}'"], _AS_IT_IS),
    ("text[]", "ARRAY<STRING>", ["ARRAY['a b', 'q\"x', E'b\\\\s', 'NULL', NULL, '', '{}', 'a,b', 'NUMB']"], _AS_IT_IS),
    ("numeric(6,2)[]", "ARRAY<DECIMAL(6, 2)>", ["'{1.5,NULL}'"], None),
    ("boolean[]", "ARRAY<BOOLEAN>", ["'{t,f,NULL}'"], _AS_IT_IS),
    ("timestamptz[]", "ARRAY<TIMESTAMP_LTZ(6)>", ["'{2024-01-01 00:00:00+00}'"], None),
    ("bytea[]", "ARRAY<BYTES>", [r"ARRAY['\x00ff'::bytea, NULL]"], _AS_IT_IS),
    ("mood[]", "ARRAY<STRING>", ["'{sad,happy}'"], None),
    ("price[]", "ARRAY<DECIMAL(8, 2)>", ["'{1.25}'"], None),
    ("box[]", "STRING", ["'{(3,4),(1,2)}'"], None),
]
_OWN = """
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN price AS numeric(8,2) CHECK (VALUE > 0);
CREATE TYPE pair AS (a int, b text)
"""
_BY_VALUE = {  # where neither psycopg nor the server's own text is the shape that we have
    "numeric(6,2)[]": [[Decimal("1.50"), None]],
    "timestamptz[]": [[dt.datetime(2024, 1, 1, tzinfo=_UTC)]],
    "mood[]": [["sad", "happy"]],
    "price[]": [[Decimal("1.25")]],
}


def test_a_copy_and_a_stream_have_the_same_values_as_the_server(pg: Database) -> None:
    """One table with a column of each type, a row of values each, one of NULLs."""
    columns = [f"c{n}" for n in range(len(TYPES))]
    longest = max(len(values) for _, _, values, _ in TYPES)
    with pg.connect() as connection:
        connection.execute(_OWN)
        declared = ", ".join(f"{name} {type_}" for name, (type_, *_) in zip(columns, TYPES, strict=True))
        connection.execute(f"CREATE TABLE types (id int PRIMARY KEY, {declared})")
        source = PostgresDatabase.of({**pg.options, "tables": "public.types"})
        start = source.begin()
        for n in range(longest + 1):
            values = [f"({v[n]})::{type_}" if n < len(v) else "NULL" for type_, _, v, _ in TYPES]
            connection.execute(f"INSERT INTO types VALUES ({n}, {', '.join(values)})")
        (table,) = source.tables()
        assert [str(c.type) for c in table.schema.columns[1:]] == [ours for _, ours, *_ in TYPES]
        as_of = source.now()
        copied = pa.Table.from_batches(source.read_chunk(table, Chunk(0), as_of)).sort_by("id").combine_chunks()
        events = list(source.changes(start, as_of, [table]))
        streamed = pa.Table.from_batches([event.rows for event in events if isinstance(event, TableRows)])
        for name, (type_, _, values, convert) in zip(columns, TYPES, strict=True):
            found = copied[name].to_pylist()
            assert repr(streamed[name].to_pylist()) == repr(found), type_
            if type_ in _BY_VALUE:
                expected = _BY_VALUE[type_]
            else:
                cast = "" if convert else "::text" if type_ != "numeric(6,2)[]" else ""
                rows = connection.execute(f"SELECT {name}{cast} FROM types ORDER BY id").fetchall()
                expected = [v if v is None or convert is None else convert(v) for (v,) in rows[: len(values)]]
                expected = [shortest(v) if type_ == "real" else v for v in expected]
            assert repr(found) == repr(expected + [None] * (longest + 1 - len(expected))), type_
    source.close()


def shortest(value: Any) -> Any:
    """A float of 32 bits as Arrow shows it."""
    return pa.scalar(value, pa.float32()).as_py()


def test_dates_that_few_can_read(pg: Database) -> None:
    """Before our era and after 9999 they are the days that the server counts; infinity is refused, or NULL."""
    with pg.connect() as connection:
        connection.execute(
            "CREATE TABLE odd (id int PRIMARY KEY, d date, t timestamp(3), z timestamptz, n numeric(4,1))"
        )
        connection.execute(
            "INSERT INTO odd VALUES"
            " (1, '0044-03-15 BC', '0044-03-15 10:00:00.5 BC', '12345-06-07 08:09:10.123456+00', 1),"
            " (2, '2024-01-01', '2024-01-01', '2024-01-01+00', 2)"
        )
        source = PostgresDatabase.of({**pg.options, "tables": "public.odd"})
        source.begin()
        (table,) = source.tables()
        (batch,) = source.read_chunk(table, Chunk(0), source.now())
        days = connection.execute("SELECT d - '1970-01-01' FROM odd ORDER BY id").fetchall()
        assert batch["d"].view(pa.int32()).to_pylist() == [n for (n,) in days]
        for name, unit in (("t", 1000), ("z", 1_000_000)):
            zone = " AT TIME ZONE 'UTC'" if name == "z" else ""
            query = f"SELECT (extract(epoch FROM {name}{zone}) * {unit})::bigint FROM odd ORDER BY id"
            assert batch[name].view(pa.int64()).to_pylist() == [n for (n,) in connection.execute(query).fetchall()]
        connection.execute("INSERT INTO odd VALUES (3, 'infinity', '-infinity', 'infinity', 'NaN')")
        with pytest.raises(InvalidError, match=r"Column 'd' of public.odd holds 'infinity'.*'odd-values' = 'null'"):
            list(source.read_chunk(table, Chunk(0), source.now()))
        source.close()
        lenient = PostgresDatabase.of({**pg.options, "tables": "public.odd", "odd-values": "null"})
        (batch,) = lenient.read_chunk(table, Chunk(0), lenient.now())
        assert batch.slice(2).to_pylist() == [{"id": 3, "d": None, "t": None, "z": None, "n": None}]
        assert batch["n"].to_pylist() == [Decimal("1.0"), Decimal("2.0"), None]
        lenient.close()


def test_long_values_that_were_not_touched(pg: Database) -> None:
    """They are never NULL: looked up where the log does not have them, or an error that says what to run."""
    with pg.connect() as connection:
        connection.execute("CREATE TABLE docs (id int PRIMARY KEY, n int, body text)")
        connection.execute("ALTER TABLE docs ALTER COLUMN body SET STORAGE EXTERNAL")
        source = PostgresDatabase.of({**pg.options, "tables": "public.docs"})
        start = source.begin()
        connection.execute("INSERT INTO docs SELECT n, 0, repeat('x' || n, 5000) FROM generate_series(1, 3) n")
        connection.execute("UPDATE docs SET n = 1")
        connection.execute("UPDATE docs SET id = 9 WHERE id = 2")
        connection.execute("DELETE FROM docs WHERE id = 3")
        end, (table,) = source.now(), source.tables()
        rows = [
            (k, r["id"], r["n"], r["body"] and r["body"][:2])
            for event in source.changes(start, end, [table])
            if isinstance(event, TableRows) and event.kinds is not None
            for k, r in zip(event.kinds.to_pylist(), event.rows.to_pylist(), strict=True)
        ]
        first = [(1, 1, 0, "x1"), (1, 2, 0, "x2"), (1, 3, 0, "x3")]
        # The updates of 2 and 3 are left out: those rows are gone, and their deletes follow.
        assert rows == [*first, (3, 1, 1, "x1"), (4, 2, None, None), (1, 9, 1, "x2"), (4, 3, None, None)]
        connection.execute("ALTER TABLE docs RENAME body TO text")  # it is looked for under the name that it has now
        again = [event for event in source.changes(start, end, [table]) if isinstance(event, TableRows)]
        bodies = [row["body"] for event in again for row in event.rows.to_pylist()]
        assert [body and body[:2] for body in bodies] == [row[3] for row in rows]
        connection.execute("ALTER TABLE docs RENAME text TO body")
        source.close()
        strict = PostgresDatabase.of({**pg.options, "tables": "public.docs", "unchanged-values": "fail"})
        with pytest.raises(InvalidError, match="REPLICA IDENTITY FULL"):
            list(strict.changes(start, end, [table]))
        connection.execute("ALTER TABLE docs REPLICA IDENTITY FULL")
        begin = strict.now()
        connection.execute("UPDATE docs SET n = 2 WHERE id = 1")
        (event,) = strict.changes(begin, strict.now(), strict.tables())
        assert isinstance(event, TableRows)
        assert [(row["n"], row["body"]) for row in event.rows.to_pylist()] == [(1, "x1" * 5000), (2, "x1" * 5000)]
        strict.close()


def test_generated_columns_come_where_the_server_sends_them(pg: Database) -> None:
    """PostgreSQL 18 sends stored ones; virtual ones never come, so a copy has none of them either."""
    with pg.connect() as connection:
        connection.execute(
            "CREATE TABLE made (id int PRIMARY KEY, a int, b int GENERATED ALWAYS AS (a * 2) STORED,"
            " c int GENERATED ALWAYS AS (a * 3) VIRTUAL)"
        )
        source = PostgresDatabase.of({**pg.options, "tables": "public.made"})
        start = source.begin()
        connection.execute("INSERT INTO made VALUES (1, 5)")
        (table,) = source.tables()
        end = source.now()
        (event,) = source.changes(start, end, [table])
        (batch,) = source.read_chunk(table, Chunk(0), end)
        assert isinstance(event, TableRows)
        assert event.rows.to_pylist() == batch.to_pylist() == [{"id": 1, "a": 5, "b": 10}]
        source.close()
