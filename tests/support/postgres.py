"""A real PostgreSQL for tests (from PyPI), on free ports of this machine, started when the first test asks for it."""

from __future__ import annotations

import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest

from lakeward.cli.demo.child_postgres import DATABASE, PASSWORD, USER, ChildPostgres


class Postgres(ChildPostgres):
    """With wal_level=logical, in a temporary directory. `kill()` is kill -9, `start()` brings it back as it was."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="lakeward-pg-"))
        self._home.chmod(0o755)
        super().__init__(self._home / "pg", settings)

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._home, ignore_errors=True)

    def connect(self, database: str = DATABASE, **options: Any) -> psycopg.Connection[Any]:
        """A connection that commits every statement by itself."""
        return psycopg.connect(self.socket_uri, dbname=database, autocommit=True, **options)

    def new_database(self) -> Database:
        """An empty database that nobody else uses; slots belong to a database, publications too."""
        name = f"test_{uuid.uuid4().hex[:12]}"
        with self.connect() as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return Database(self, name)


class Database:
    """A database of a server of tests."""

    def __init__(self, server: Postgres, name: str) -> None:
        self.server, self.name = server, name

    def connect(self) -> psycopg.Connection[Any]:
        """A connection that commits every statement by itself."""
        return self.server.connect(self.name)

    @property
    def options(self) -> dict[str, str]:
        """How `lakeward.postgres`, 'postgres-cdc' and pipelines are told of it, over TCP with a password."""
        return {
            "hostname": "127.0.0.1",
            "port": str(self.server.port),
            "username": USER,
            "password": PASSWORD,
            "database-name": self.name,
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Drop it, with its slots, so that the next test finds room for its own."""
        with self.server.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots"
                " WHERE database = %s AND active_pid IS NOT NULL",
                [self.name],
            )
            connection.execute(
                "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = %s", [self.name]
            )
            connection.execute(f"DROP DATABASE {self.name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL that is shared by all tests of this worker."""
    with Postgres() as server:
        yield server


@pytest.fixture
def pg(postgres: Postgres) -> Iterator[Database]:
    """An empty database."""
    with postgres.new_database() as database:
        yield database
