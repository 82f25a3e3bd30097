"""A real MariaDB for tests: Debian's packages, unpacked into a cache once, started on a free port of this machine.

No package is installed. Where `apt-get` is not to be had, or knows no MariaDB, tests skip and say so.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pymysql
import pytest

from lakeward.runtime.process.child import Child

PACKAGES = (
    *("mariadb-server", "mariadb-server-core", "mariadb-client", "mariadb-client-core", "mariadb-common"),
    *("mysql-common", "libmariadb3", "libaio1", "liburing2", "galera-4"),
)
CACHE = Path.home() / ".cache" / "lakeward" / "mariadb"
USER, PASSWORD = "capture", "capture's secret"
#: A user who may read tables and nothing else.
POOR_USER, POOR_PASSWORD = "poor", "poor's secret"
_START_S = 60
_SETTINGS = {
    "log_bin": "binlog",
    "binlog_format": "ROW",
    "binlog_row_image": "FULL",
    "binlog_row_metadata": "FULL",
    "gtid_strict_mode": "1",
    "server_id": "1",
    "innodb_buffer_pool_size": "64M",
    "innodb_log_file_size": "16M",
    "innodb_flush_log_at_trx_commit": "0",
    "max_connections": "100",
    "character_set_server": "utf8mb4",
}


class MariaDbAbsentError(Exception):
    """There is no MariaDB here; the text says why."""


class MariaDb:
    """`mariadbd` in a process of its own, with its files in a directory of its own; `settings` go into its my.cnf."""

    def __init__(self, **settings: str) -> None:
        self._root = _unpack()
        self._directory = Path(tempfile.mkdtemp(prefix="lakeward-mariadb-"))
        self._settings = {**_SETTINGS, **settings}
        self._process: Child | None = None
        self.port = 0

    def __enter__(self) -> Self:
        shutil.copytree(_template(self._root), self._directory / "data")
        with socket.socket() as held:
            held.bind(("127.0.0.1", 0))
            self.port = held.getsockname()[1]
        self.start()
        self.execute(
            f"CREATE USER '{USER}'@'%' IDENTIFIED BY '{_quote(PASSWORD)}'",
            f"GRANT SELECT, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{USER}'@'%'",
            f"CREATE USER '{POOR_USER}'@'%' IDENTIFIED BY '{_quote(POOR_PASSWORD)}'",
            f"GRANT SELECT ON *.* TO '{POOR_USER}'@'%'",
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    @property
    def options(self) -> dict[str, str]:
        """How a source of ours is told of it; which tables, the test says."""
        return {"hostname": "127.0.0.1", "port": str(self.port), "username": USER, "password": PASSWORD}

    def start(self) -> None:
        """Start it, on the same port and files as before, and wait until it answers."""
        assert self._process is None, "it runs already"
        lines = [f"{key}={value}" for key, value in self._settings.items()]
        lines += [f"datadir={self._directory}/data", f"socket={self._directory}/s", f"port={self.port}"]
        lines += ["bind-address=127.0.0.1", f"pid-file={self._directory}/pid", f"tmpdir={self._directory}"]
        lines += [f"basedir={self._root}/usr", f"plugin-dir={self._root}/usr/lib/mysql/plugin", f"user={_user()}"]
        file = self._directory / "my.cnf"
        file.write_text("\n".join(["[mysqld]", *lines, ""]))
        with (self._directory / "output.log").open("ab") as log:
            command = [str(self._root / "usr/sbin/mariadbd"), f"--defaults-file={file}"]
            self._process = Child(command, stdout=log, stderr=log, cwd=self._directory, env=_environment(self._root))
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline and self._process.poll() is None:
            with contextlib.suppress(pymysql.err.OperationalError):
                self.connect().close()
                return
            time.sleep(0.05)
        raise AssertionError(f"MariaDB did not start:\n{(self._directory / 'output.log').read_text()[-4000:]}")

    def stop(self) -> None:
        """Stop it in good order."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def connect(self, database: str | None = None, **more: Any) -> pymysql.connections.Connection[Any]:
        """A connection of its root user, which commits every statement."""
        settings = {"user": "root", "password": "", "autocommit": True, "charset": "utf8mb4", **more}
        return pymysql.connect(host="127.0.0.1", port=self.port, database=database, **settings)

    def execute(self, *statements: str, database: str | None = None) -> None:
        """Run statements as root, one after the other."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def query(self, statement: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with self.connect(database) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())


def _quote(text: str) -> str:
    return text.replace("'", "''")


def _user() -> str:
    import pwd

    return pwd.getpwuid(os.getuid()).pw_name


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": f"{root}/usr/lib/x86_64-linux-gnu:{root}/lib/x86_64-linux-gnu"}


@contextlib.contextmanager
def _lock() -> Iterator[None]:
    """One process at a time fills the cache."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _unpack() -> Path:
    """The folder with the programs; downloaded and unpacked if this is the first time."""
    root = CACHE / "root"
    if root.exists():
        return root
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise MariaDbAbsentError("there is no apt-get to fetch a MariaDB with")
    with _lock():
        if not root.exists():
            packages, unpacked = CACHE / "packages", CACHE / "unpacked"
            packages.mkdir(exist_ok=True)
            if len(list(packages.glob("*.deb"))) < len(PACKAGES):
                found = subprocess.run(
                    ["apt-get", "download", *PACKAGES], cwd=packages, capture_output=True, text=True, timeout=600
                )
                if found.returncode:
                    raise MariaDbAbsentError(f"apt-get has no MariaDB: {found.stderr.strip()[-300:]}")
            shutil.rmtree(unpacked, ignore_errors=True)
            for package in packages.glob("*.deb"):
                subprocess.run(["dpkg", "-x", package, unpacked], check=True)
            unpacked.rename(root)
    return root


def _template(root: Path) -> Path:
    """A data directory as a new server has it."""
    template = CACHE / "template"
    with _lock():
        if not template.exists():
            data = CACHE / "data"
            shutil.rmtree(data, ignore_errors=True)
            command = [root / "usr/bin/mariadb-install-db", "--no-defaults", f"--basedir={root}/usr"]
            command += [f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"]
            command += ["--skip-name-resolve", "--innodb-log-file-size=16M", f"--user={_user()}"]
            subprocess.run(command, check=True, capture_output=True, env=_environment(root), timeout=300)
            data.rename(template)
    return template


@contextlib.contextmanager
def mariadb_or_skip(**settings: str) -> Iterator[MariaDb]:
    """A running MariaDB, or a skipped test with the reason."""
    try:
        server = MariaDb(**settings)
    except MariaDbAbsentError as why:
        pytest.skip(str(why))
    with server:
        yield server


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDb]:
    """One MariaDB for all tests of this process."""
    with mariadb_or_skip() as server:
        yield server
