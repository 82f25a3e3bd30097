"""Everything that runs with passwords leave behind is searched for them: files, logs, plans, pages, processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from server_process import ServerProcess

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


def run(command: list[str], directory: Path, **environment: str) -> None:
    """Run a command to its end; what it says goes into files beside the others."""
    directory.mkdir(parents=True, exist_ok=True)
    temporary = directory / "tmp"
    temporary.mkdir(exist_ok=True)
    environ = {**os.environ, "TMPDIR": str(temporary), "LAKEWARD_STATE": str(directory / "state"), **environment}
    number = len(list(directory.glob("*.out")))
    with (directory / f"{number}.out").open("w") as out, (directory / f"{number}.err").open("w") as err:
        done = subprocess.run(command, env=environ, cwd=directory, stdout=out, stderr=err, timeout=400, check=False)
    assert done.returncode == 0, (directory / f"{number}.err").read_text()[-6000:]


def test_spark_leaves_no_password_behind(guarded: ServerProcess, tmp_path: Path) -> None:
    """Catalog, options, Python source, streams, lookups, scripts; event logs, checkpoints, staged parts, pages."""
    directory = tmp_path / "run"
    for name in ("events", "local"):
        directory.joinpath(name).mkdir(parents=True)
    private_file(tmp_path / "password", USERS["file"])
    told = {"bootstrap": guarded.bootstrap, "directory": str(directory), "users": {**USERS, "wrong": _WRONG}}
    settings = private_file(tmp_path / "settings", json.dumps(told))
    run([sys.executable, str(_DRIVER), str(settings)], directory, DRIVER_PASSWORD=USERS["env"])
    assert list(directory.glob("events/**/*"))
    assert list(directory.glob("checkpoint-*/**/*"))
    assert leaks(directory, guarded.data_dir.parent) == []
