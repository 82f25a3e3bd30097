"""A MariaDB that is changed while it is copied: rows as of a place and changes after it are the table."""

from __future__ import annotations

import itertools

import pytest
from mariadb import MariaDb
from mysql_load import TABLES, RandomChanges, Replayed, make_tables

from lakeward.capture.mysql.mysql_database import MysqlDatabase
from lakeward.capture.mysql.mysql_settings import MysqlSettings
from lakeward.capture.port import Position, SourceTable, TableId

_names = (f"load{number}" for number in itertools.count())


@pytest.fixture
def name(mariadb: MariaDb) -> str:
    """A database with tables of every kind of key."""
    name = next(_names)
    make_tables(mariadb, name, seed=7)
    return name


def open_database(mariadb: MariaDb, name: str, **options: str) -> MysqlDatabase:
    """All tables of one database."""
    return MysqlDatabase(MysqlSettings.of({**mariadb.options, "tables": rf"{name}.\.*", **options}))


def copy(database: MysqlDatabase, tables: list[SourceTable], as_of: Position, rows: int = 40) -> Replayed:
    """All tables as they were at a place, chunk by chunk."""
    replayed = Replayed()
    for table in tables:
        for chunk in database.chunks(table, rows):
            replayed.add(table.id, table.schema.primary_key, database.read_chunk(table, chunk, as_of))
    return replayed


def truth(mariadb: MariaDb, id_: TableId) -> list[tuple[object, ...]]:
    """What the server says."""
    return sorted(mariadb.query(f"SELECT * FROM {id_}"), key=repr)


def test_a_copy_under_load_and_the_changes_after_it_are_the_table(mariadb: MariaDb, name: str) -> None:
    """Keys of one and several columns, texts with collations, no key, no transactions; read twice, in pieces too."""
    database = open_database(mariadb, name)
    tables = list(database.tables())
    with RandomChanges(mariadb, name, seed=1) as one, RandomChanges(mariadb, name, seed=2):
        as_of = database.begin()
        first = copy(database, tables, as_of)
        again = copy(database, tables, as_of, rows=1000)
        one.wait_for(300)
    end = database.now()
    assert {table.id: first.table(table.id) for table in tables} == {t.id: again.table(t.id) for t in tables}
    changes = list(database.changes(as_of, end, tables))
    first.apply(changes)
    place, pieces = as_of, 0
    while database.is_after(end, place):
        following = database.limit(place, end, 50)
        again.apply(database.changes(place, following, tables))
        place, pieces = following, pieces + 1
    assert pieces > 3
    for table in tables:
        assert first.table(table.id) == truth(mariadb, table.id) == again.table(table.id)
    assert {event.table.id.name for event in changes} == set(TABLES)
