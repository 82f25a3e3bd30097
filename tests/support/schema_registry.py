"""A schema registry on a port of its own: numbers for schemas, kept in a list; it can be told to fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Registry:
    """What was registered, who asked, and how the next answers fail."""

    def __init__(self) -> None:
        self.schemas: list[str] = []
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[str] = []
        self.authorization: str | None = None
        self.failures: list[int] = []
        self.url = ""

    def add(self, subject: str, schema: dict[str, Any]) -> int:
        """Register a schema; its number."""
        text = json.dumps(schema)
        if text not in self.schemas:
            self.schemas.append(text)
        number = self.schemas.index(text) + 1
        self.subjects.setdefault(subject, []).append(number)
        return number

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Status and answer."""
        self.asked.append(f"{method} {path}")
        if self.failures:
            return self.failures.pop(0), {"message": "as told"}
        match path.strip("/").split("/"):
            case ["schemas", "ids", number] if 0 < int(number) <= len(self.schemas):
                return 200, {"schema": self.schemas[int(number) - 1]}
            case ["subjects", subject, "versions"] if method == "POST":
                return 200, {"id": self.add(subject, json.loads(body["schema"]))}
            case _:
                return 404, {"error_code": 40403, "message": "not found"}


@contextmanager
def schema_registry() -> Iterator[Registry]:
    """A registry while the block lasts."""
    registry = Registry()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else None
            registry.authorization = self.headers.get("Authorization")
            status, answer = registry.answer(self.command, self.path, body)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _serve  # noqa: N815 - the names that the library calls

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
