"""The guide to logging in is done as it stands there, at a server that asks."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from forked import run_in_shell
from server_process import ServerProcess

_PAGE = Path(__file__).parents[2] / "docs" / "guides" / "logging-in.md"
_SNIPPET = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PASSWORD = "a long password"


@pytest.mark.timeout(200)
def test_the_guide_can_be_followed(tmp_path: Path) -> None:
    """Every snippet logs in, and none tells the password."""
    password = tmp_path / "alice.password"
    password.touch(0o600)
    password.write_text(f"{_PASSWORD}\n")
    options = {
        "bind__listeners": "CLIENT://localhost:0",
        "security__protocol__map": "CLIENT:SASL",
        "security__sasl__plain__credentials": f"alice:{_PASSWORD}",
        "internal__listener__name": "CLIENT",
    }
    with ServerProcess(tmp_path / "data", **options) as server:
        snippets = _SNIPPET.findall(_PAGE.read_text())
        assert {kind for kind, _ in snippets} == {"sh", "python"}
        for kind, text in snippets:
            done = _run(kind, text.replace("localhost:9123", server.bootstrap), server.bootstrap, tmp_path)
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            assert "fluss" in done.stdout
            assert _PASSWORD not in done.stdout + done.stderr


def _run(kind: str, text: str, server: str, directory: Path) -> subprocess.CompletedProcess[str]:
    programs = {"sh": ["bash", "-euo", "pipefail", "-c", text], "python": [sys.executable, "-c", text]}
    return run_in_shell(programs[kind], directory=directory, timeout_s=100, LAKEWARD_SERVER=server)
