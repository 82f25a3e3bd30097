"""Plain HTTP on the same port."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.request

import pytest
from server_process import ServerProcess
from wire_client import HELLO, WireClient

from lakeward.protocol.api import Api


def get(server: ServerProcess, path: str, method: str = "GET") -> tuple[int, str, bytes]:
    """Status, content type and body."""
    request = urllib.request.Request(f"http://{server.bootstrap}{path}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers["Content-Type"], refused.read()


def test_health_is_json(lakeward: ServerProcess) -> None:
    """A probe gets 200 and a small document."""
    status, content_type, body = get(lakeward, "/health")
    assert (status, content_type) == (200, "application/json")
    assert json.loads(body)["status"] == "ok"


def test_metrics_are_prometheus_text(lakeward: ServerProcess) -> None:
    """Every line is a comment or a sample, every sample has its help and type, and requests are counted."""
    with WireClient.of(lakeward.bootstrap) as client:
        client.call(Api.API_VERSIONS, HELLO)
        status, content_type, body = get(lakeward, "/metrics?x=1")
    assert status == 200
    assert content_type.startswith("text/plain; version=0.0.4")
    lines = body.decode().splitlines()
    sample = re.compile(r'([a-z_]+?)(_bucket|_sum|_count)?(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (NaN|-?[0-9.e+-]+)')
    described = {line.split()[2] for line in lines if line.startswith("# HELP")}
    assert described == {line.split()[2] for line in lines if line.startswith("# TYPE")}
    samples = [sample.fullmatch(line) for line in lines if not line.startswith("#")]
    assert samples
    assert all(found and found[1] in described for found in samples)
    assert any(line.startswith('lakeward_requests_total{api="API_VERSIONS"}') for line in lines)
    assert any(line.startswith("lakeward_connections ") and line != "lakeward_connections 0" for line in lines)


@pytest.mark.parametrize(
    ("path", "method", "status"), [("/", "GET", 404), ("/nope", "GET", 404), ("/health", "POST", 405)]
)
def test_anything_else_is_refused_politely(lakeward: ServerProcess, path: str, method: str, status: int) -> None:
    """A browser that asks for something else is told what there is."""
    assert get(lakeward, path, method)[0] == status


def test_head_has_no_body(lakeward: ServerProcess) -> None:
    """HEAD is GET without the content."""
    status, _, body = get(lakeward, "/health", "HEAD")
    assert (status, body) == (200, b"")


@pytest.mark.parametrize(
    "text", [b"GET \r\n\r\n", b"GET " + b"x" * 20_000, b"GET /health\r\n\r\n", b"POST \x00\xff\r\n\r\n"], ids=range(4)
)
def test_broken_http_is_answered_and_closed(lakeward: ServerProcess, text: bytes) -> None:
    """What only begins like HTTP gets a 4xx and an end."""
    with socket.create_connection((lakeward.host, lakeward.port), 30) as plain:
        plain.sendall(text)
        answer = b""
        try:
            while piece := plain.recv(4096):
                answer += piece
        except ConnectionResetError:  # it hung up before it had read all that we sent
            pass
        assert not answer or answer.startswith(b"HTTP/1.1 4")


def test_a_request_may_come_in_pieces(lakeward: ServerProcess) -> None:
    """The answer is given when the empty line has come."""
    with socket.create_connection((lakeward.host, lakeward.port), 30) as plain:
        for piece in (b"GE", b"T /heal", b"th HTTP/1.1\r\nHost: x\r\n", b"\r", b"\n"):
            plain.sendall(piece)
        assert plain.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
