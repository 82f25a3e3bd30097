"""The command that health checks run: what it asks, and what it says."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from lakeward.cli.main import cli


class _Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = {"/health": 200, "/locked": 401}.get(self.path, 500)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b'{"status": "ok"}\n')

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """Where something answers."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def _ask(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, ["health", *arguments], env=environment)


def test_a_server_that_is_well_is_0_and_what_it_said(port: int) -> None:
    """By its address, by FLUSS_PROPERTIES, or by a URL."""
    listeners = f"bind.listeners: FLUSS://0.0.0.0:{port},OTHER://0.0.0.0:1"
    for done in (
        _ask("--server", f"127.0.0.1:{port}"),
        _ask(FLUSS_PROPERTIES=listeners),
        _ask("--url", f"http://127.0.0.1:{port}/health"),
        _ask(LAKEWARD_HEALTH_URL=f"http://127.0.0.1:{port}/health"),
    ):
        assert (done.exit_code, done.stdout) == (0, '{"status": "ok"}\n'), done.stderr


def test_a_server_that_wants_a_login_is_there(port: int) -> None:
    """Health checks have no password."""
    assert _ask("--url", f"http://127.0.0.1:{port}/locked").exit_code == 0


def test_whatever_else_it_is_1_and_a_sentence(port: int) -> None:
    """A page that fails, a port where nobody is, an address that is none."""
    for arguments, what in (
        (["--url", f"http://127.0.0.1:{port}/broken"], "answers 500"),
        (["--server", "127.0.0.1:1"], "127.0.0.1:1 does not answer"),
        (["--url", f"https://127.0.0.1:{port}/health"], "does not answer"),
        (["--url", "nonsense"], "is no address"),
    ):
        done = _ask(*arguments)
        assert (done.exit_code, what in done.stderr) == (1, True), done.stderr
