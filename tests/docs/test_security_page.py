"""The guide from open to locked is done as it stands there, in one sitting."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

_PAGE = Path(__file__).parents[2] / "docs" / "guides" / "security.md"
_SNIPPET = re.compile(r"^```(sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.oracle
@pytest.mark.timeout(200)
def test_the_guide_can_be_followed(tmp_path: Path) -> None:
    """Every command of the page, one after the other in one shell, does what the page says."""
    pytest.importorskip("fluss")
    if shutil.which("curl") is None:
        pytest.skip("the page uses curl")
    script = "\n".join(text if kind == "sh" else _repeated(text) for kind, text in _snippets())
    ports = _free_ports("9123", "9124", "9125")
    script = re.sub("|".join(ports), lambda found: ports[found[0]], script)
    beside_python = str(Path(sys.executable).parent)
    try:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{beside_python}:{os.environ['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=150,
        )
    finally:
        for left in tmp_path.rglob("server.pid"):
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(left.read_text()), signal.SIGKILL)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{(tmp_path / 'server.log').read_text()}"
    assert "alice" in done.stdout
    assert "a long password" not in done.stdout + done.stderr + (tmp_path / "server.log").read_text()


def _repeated(python: str) -> str:
    """On a busy machine pyfluss sometimes aborts while the interpreter ends, after all is done."""
    return f"cat > step.py <<'PYTHON'\n{python}PYTHON\n{' || '.join(['python step.py'] * 5)}\n"


def _snippets() -> list[tuple[str, str]]:
    found = _SNIPPET.findall(_PAGE.read_text())
    assert found
    return found


def _free_ports(*numbers: str) -> dict[str, str]:
    """A port for each number of the page; all are held until the last is found, so that they differ."""
    with contextlib.ExitStack() as held:
        bound = [held.enter_context(socket.create_server(("localhost", 0))) for _ in numbers]
        return {number: str(one.getsockname()[1]) for number, one in zip(numbers, bound, strict=True)}
