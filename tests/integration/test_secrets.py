"""Everything that runs with passwords leave behind is searched for them: files, logs, plans, pages, processes."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from eventually import eventually
from server_process import ServerProcess

import lakeward as lw
from lakeward.runtime.process.child import Child

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_DRIVER = Path(__file__).parents[1] / "support" / "secret_driver.py"
#: One for each way in which a password is given, so that what is found says where it came from.
USERS = {name: f"hush-{name}-4711" for name in ("session", "option", "env", "file", "cli")}
_WRONG = "hush-wrong-4711"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that lets nobody in without a login."""
    directory = tmp_path_factory.mktemp("server")
    users = private_file(directory.parent / "users-of-the-server", ",".join(f"{n}:{p}" for n, p in USERS.items()))
    options = {
        "bind__listeners": "CLIENT://localhost:0",
        "security__protocol__map": "CLIENT:SASL",
        "security__sasl__plain__credentials": f"file:{users}",
        "security__login__failure_pause": "1 ms",
        "internal__listener__name": "CLIENT",
    }
    with ServerProcess(directory / "data", **options) as server:
        yield server


def private_file(path: Path, text: str) -> Path:
    """A file for its owner alone."""
    path.touch(0o600)
    path.write_text(text)
    return path


def leaks(*places: Path) -> list[str]:
    """Every file below some places in which a password stands, in any of the encodings that files have."""
    found = []
    for place in places:
        for path in sorted(place.rglob("*")):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                found += [f"{path}: {p}" for p in (*USERS.values(), _WRONG) if _stands_in(p, content)]
    return found


def _stands_in(password: str, content: bytes) -> bool:
    return any(password.encode(encoding) in content for encoding in ("utf-8", "utf-16-le", "utf-16-be"))


def rows_of(conn: lw.Connection, table: str) -> int:
    """How many rows a table has."""
    return int(conn.table(table).scan().to_arrow().num_rows)


class Place:
    """Where programs run, and everything that they leave behind."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._begun = 0
        for name in ("events", "local", "tmp"):
            directory.joinpath(name).mkdir(parents=True)

    @property
    def of_spark(self) -> dict[str, str]:
        """Settings of Spark: its event log as text, and its own files here."""
        return {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": self.directory.joinpath("events").as_uri(),
            "spark.local.dir": str(self.directory / "local"),
            "spark.driver.memory": "1g",
            "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        }

    def start(self, *command: str, **environment: str) -> Child:
        """Start a program of ours; what it says goes into files beside the others."""
        self._begun += 1
        own = {"TMPDIR": str(self.directory / "tmp"), "LAKEWARD_STATE": str(self.directory / "state")}
        with self._file("out").open("w") as out, self._file("err").open("w") as err:
            return Child(
                [sys.executable, *command],
                env={**os.environ, **own, **environment},
                cwd=self.directory,
                stdout=out,
                stderr=err,
            )

    def end(self, process: Child) -> None:
        """Wait until it has ended well."""
        assert process.wait(400) == 0, self._file("err").read_text()[-6000:]

    def list_processes(self, process: Child) -> None:
        """Write down how everything was started that a program has started."""
        found = psutil.Process(process.pid)
        lines = []
        for one in (found, *found.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):
                lines.append(" ".join(one.cmdline()))
        assert any("java" in line for line in lines), lines
        (self.directory / f"{self._begun}.processes").write_text("\n".join(lines))

    def _file(self, kind: str) -> Path:
        return self.directory / f"{self._begun}.{kind}"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place that is empty."""
    return Place(tmp_path / "run")


@pytest.mark.long
def test_spark_leaves_no_password_behind(guarded: ServerProcess, place: Place, tmp_path: Path) -> None:
    """Catalog, options, Python source, streams, lookups, scripts; event logs, checkpoints, staged parts, pages."""
    private_file(tmp_path / "password", USERS["file"])
    told = {
        "bootstrap": guarded.bootstrap,
        "directory": str(place.directory),
        "users": {**USERS, "wrong": _WRONG},
        "settings": place.of_spark,
    }
    settings = private_file(tmp_path / "settings", json.dumps(told))
    place.end(place.start(str(_DRIVER), str(settings), DRIVER_PASSWORD=USERS["env"]))
    assert list(place.directory.glob("events/**/*"))
    assert list(place.directory.glob("checkpoint-*/**/*"))
    assert leaks(place.directory, guarded.data_dir.parent) == []


def test_the_command_line_leaves_no_password_behind(guarded: ServerProcess, place: Place, tmp_path: Path) -> None:
    """A job of a script and the tiering service, both on Spark; records of jobs, checkpoints, the lake."""
    login = {"LAKEWARD_SERVER": guarded.bootstrap, "LAKEWARD_USER": "cli", "LAKEWARD_PASSWORD": USERS["cli"]}
    script = tmp_path / "job.sql"
    option = f"'client.security.sasl.username' = 'option', 'client.security.sasl.password' = '{USERS['option']}'"
    script.write_text(
        "CREATE TABLE from_here (id INT) WITH ('table.name' = 'fluss.from_here');\n"
        "CREATE TABLE to_there (id INT) WITH ('table.name' = 'fluss.to_there', 'table.datalake.enabled' = 'true',"
        f" 'table.datalake.freshness' = '1s', {option});\n"
        "INSERT INTO from_here VALUES (1), (2);\n"
        "SET 'execution.runtime-mode' = 'streaming';\n"
        f"INSERT INTO to_there SELECT id FROM from_here /*+ OPTIONS({option}) */;\n"
    )
    with lw.connect(guarded.bootstrap, user="cli", password=USERS["cli"]) as conn:
        flags = [part for key, value in place.of_spark.items() for part in ("-D", f"{key}={value}")]
        job = place.start("-m", "lakeward", "run", str(script), *flags, **login)
        assert eventually(lambda: conn.has_table("fluss.to_there") and rows_of(conn, "fluss.to_there") == 2)
        place.list_processes(job)
        job.send_signal(signal.SIGTERM)
        place.end(job)
        flags = [part for key, value in place.of_spark.items() for part in ("--conf", f"{key}={value}")]
        service = place.start("-m", "lakeward", "tier", "--warehouse", str(place.directory / "lake"), *flags, **login)
        assert eventually(lambda: bool(list(place.directory.glob("lake/**/*.parquet"))))
        place.list_processes(service)
        service.send_signal(signal.SIGTERM)
        place.end(service)
    assert list(place.directory.glob("state/**/*.json"))
    assert leaks(place.directory, guarded.data_dir.parent) == []
