"""The newcomer's walk of docs/guides/operations.md, step by step as it stands there."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from server_process import ServerProcess

_PAGE = Path(__file__).parents[2] / "docs" / "guides" / "operations.md"


@pytest.mark.slow
def test_the_walk_from_a_server_to_a_dashboard(lakeward: ServerProcess, tmp_path: Path) -> None:
    """Every shell snippet ends well; the one with Prometheus where there is one."""
    snippets = re.findall(r"^```sh\n(.*?)^```$", _PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(snippets) == 3
    ports = {"localhost:9123": lakeward.bootstrap, "9180": _free_port(), "9090": _free_port()}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for text in snippets:
        if "prometheus --config" in text and shutil.which("prometheus") is None:
            pytest.skip("Prometheus is not installed here; that step was left out")
        for named, there in ports.items():
            text = text.replace(named, there)
        environment = {**os.environ, "LAKEWARD_SERVER": lakeward.bootstrap, "PATH": path}
        command = ["bash", "-euo", "pipefail", "-c", text]
        with (tmp_path / "output").open("w") as output:  # what runs in the background would hold a pipe open
            done = subprocess.run(
                command,
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=200,
            )
        assert done.returncode == 0, f"{text}\n{(tmp_path / 'output').read_text()}"


def _free_port() -> str:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return str(taken.getsockname()[1])
