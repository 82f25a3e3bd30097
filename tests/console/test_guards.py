"""What the console refuses, over plain HTTP: other hosts, forms of others, changes where none are allowed."""

from __future__ import annotations

import http.client
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from cli_process import Cli
from console_process import ConsoleProcess
from server_process import ServerProcess

import lakeward

_TOKEN = re.compile(r'name="form_token" value="([^"]+)"')


class Visitor:
    """A program that does what a browser does, and what it would not."""

    def __init__(self, url: str) -> None:
        self._address = urlsplit(url).netloc
        self.cookie = ""

    def ask(self, path: str, form: dict[str, str] | None = None, **headers: str) -> tuple[int, str, dict[str, str]]:
        """Status, text and headers of an answer; a form is sent by POST."""
        connection = http.client.HTTPConnection(self._address, timeout=20)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        given.setdefault("Cookie", self.cookie)
        if form is not None:
            given["Content-Type"] = "application/x-www-form-urlencoded"
        body = None if form is None else urlencode(form)
        connection.request("GET" if form is None else "POST", path, body, {k: v for k, v in given.items() if v})
        answer = connection.getresponse()
        text = answer.read().decode()
        found = dict(answer.getheaders())
        if "set-cookie" in found:
            self.cookie = found["set-cookie"].partition(";")[0]
        connection.close()
        return answer.status, text, found

    def form_token(self) -> str:
        """The token of a form that this visitor is shown."""
        found = _TOKEN.search(self.ask("/new-database")[1])
        assert found
        return found[1]


@pytest.fixture
def visitor(console: ConsoleProcess) -> Visitor:
    """Somebody new."""
    return Visitor(console.url)


def test_every_answer_tells_the_browser_what_to_refuse(visitor: Visitor) -> None:
    """Pages, files, errors; and no page is kept by anybody."""
    for path in ("/", "/static/console.css", "/nowhere", "/tables/none/none"):
        headers = visitor.ask(path)[2]
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert visitor.ask("/")[2]["cache-control"] == "no-store"


def test_another_name_is_not_answered(visitor: Visitor) -> None:
    """A site that points its own name to this machine learns nothing."""
    assert visitor.ask("/", Host="evil.example")[0] == 421
    assert "Lakeward" not in visitor.ask("/static/icon.svg", Host="evil.example:9180")[1]


def test_a_form_needs_its_token_and_its_origin(
    visitor: Visitor, server: ServerProcess, console: ConsoleProcess
) -> None:
    """One without, one of another visitor, one from another page; the good one is taken."""
    token, other = visitor.form_token(), Visitor(console.url).form_token()
    for given in ("", other, "ü"):
        assert visitor.ask("/new-database", {"name": "guarded", "form_token": given})[0] == 403
    good = {"name": "guarded", "form_token": token}
    assert visitor.ask("/new-database", good, Origin="http://evil.example")[0] == 403
    assert visitor.ask("/new-database", good, Cookie=" ")[0] == 403
    with lakeward.connect(server.bootstrap) as connection:
        assert "guarded" not in connection.databases()
        assert visitor.ask("/new-database", good, Origin=console.url)[0] == 303
        connection.drop_database("guarded")


def test_what_is_too_large_or_is_no_form_is_refused(visitor: Visitor) -> None:
    """With a page that says so."""
    status, text, _ = visitor.ask("/new-database", {"name": "x" * (1 << 20), "form_token": visitor.form_token()})
    assert status == 413
    assert "larger than the console takes" in text
    assert visitor.ask("/", {"a": "b"})[0] == 405
    assert visitor.ask("/static/../app.py")[0] == 404
    assert visitor.ask("/static/%2e%2e/app.py")[0] == 404
    assert visitor.ask("/tables/a%0d%0ab/c")[0] in {400, 404}


def test_a_login_sends_nobody_to_another_site(visitor: Visitor) -> None:
    """The page that comes after it is one of the console."""
    for wanted in ("https://evil.example", "//evil.example", "/\\evil.example"):
        assert "evil" not in visitor.ask("/login?" + urlencode({"next": wanted}))[1]


@pytest.fixture(scope="module")
def read_only(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConsoleProcess]:
    """A console that changes nothing."""
    log = tmp_path_factory.mktemp("console") / "console.log"
    with ConsoleProcess(server.bootstrap, log, "--read-only") as started:
        yield started


def test_a_read_only_console_has_no_forms_and_takes_none(
    read_only: ConsoleProcess, server: ServerProcess, database: str
) -> None:
    """Neither in its pages nor from somebody who sends one all the same."""
    with lakeward.connect(server.bootstrap) as connection:
        connection.create_table(f"{database}.kept", "dt STRING", partition_by=["dt"])
    visitor = Visitor(read_only.url)
    paths = ("/tables", f"/databases/{database}", f"/tables/{database}/kept", f"/tables/{database}/kept/drop")
    for path in (*paths, "/new-database"):
        text = visitor.ask(path)[1]
        assert 'method="post"' not in text, path
        assert "read-only" in text
    status, text, _ = visitor.ask(f"/tables/{database}/kept/drop", {"confirm": f"{database}.kept", "form_token": "x"})
    assert status == 403
    with lakeward.connect(server.bootstrap) as connection:
        assert connection.tables(database) == ["kept"]


def test_a_cluster_that_is_not_there_is_said_and_its_return_is_seen(tmp_path: Path) -> None:
    """The console starts without it, says so on every page, and goes on when it is back."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    with ConsoleProcess(f"localhost:{port}", tmp_path / "console.log") as console:
        visitor = Visitor(console.url)
        status, text, _ = visitor.ask("/")
        assert (status, "down" in text) == (200, True)
        assert visitor.ask("/tables")[0] == 503
        server = ServerProcess(tmp_path / "data")
        server.port = port
        with server:
            assert visitor.ask("/tables")[0] == 200
        assert console.stop() == 0
    assert "Traceback" not in console.log_text


def test_a_console_that_cannot_start_says_why(server: ServerProcess, tmp_path: Path) -> None:
    """A port that is taken, an address of nobody, a login lent to a network."""
    cli = Cli(server.bootstrap, tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        told = cli.run("console", "--port", port)
    assert told.returncode == 1
    assert f"Port {port} of 127.0.0.1 is taken" in told.stderr
    assert "no address of this machine" in cli.run("console", "--bind", "no.such.host.invalid").stderr
    lent = ("--client", "client.security.sasl.username=u", "--client", "client.security.sasl.password=${env:HOME}")
    assert "act as its own user for everybody" in cli.run("console", "--bind", "0.0.0.0", *lent).stderr
