"""A small server that takes bulk requests as Elasticsearch does, keeps documents, and fails as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Document = dict[str, Any]


class SearchServer:
    """Documents by index and id, and what goes wrong next."""

    def __init__(self) -> None:
        self.indexes: dict[str, dict[str, Document]] = {}
        self.url = ""
        #: How many actions each request had, and how long it was.
        self.requests: list[tuple[int, int]] = []
        #: Answers to whole requests before any is taken: a status, or "drop" for a connection that breaks.
        self.failures: list[int | str] = []
        #: As "drop", but the documents were taken: the answer is lost.
        self.lost_answers = 0
        #: Status of an action by its index, id and document; None takes it.
        self.refuse: Callable[[str, str | None, Document | None], int | None] = lambda *_: None
        self.authorization: str | None = None
        self.bytes_max = 1 << 30
        self._lock = threading.Lock()
        self._number = 0

    def documents(self, index: str) -> dict[str, Document]:
        """The documents of an index by id."""
        return dict(self.indexes.get(index, {}))

    def bulk(self, body: bytes) -> Document:
        """Take actions, in their order; a body that is not right is an error of the test."""
        lines = body.split(b"\n")
        assert lines.pop() == b"", "a bulk request ends with a line feed"
        items, at = [], 0
        with self._lock:
            while at < len(lines):
                ((kind, meta),) = json.loads(lines[at]).items()
                assert kind in {"index", "delete"}
                assert set(meta) <= {"_index", "_id"}
                document = None
                if kind == "index":
                    at += 1
                    document = json.loads(lines[at])
                at += 1
                items.append({kind: self._item(kind, meta["_index"], meta.get("_id"), document)})
            self.requests.append((len(items), len(body)))
        return {"took": 1, "errors": any("error" in next(iter(i.values())) for i in items), "items": items}

    def _item(self, kind: str, index: str, id_: str | None, document: Document | None) -> Document:
        status = self.refuse(index, id_, document)
        if status is not None:
            error = {
                "type": "document_parsing_exception",
                "reason": "failed to parse",
                "caused_by": {"type": "x", "reason": "as told"},
            }
            return {"_index": index, "_id": id_, "status": status, "error": error}
        if index != index.lower():
            return {"_index": index, "status": 400, "error": {"type": "invalid_index_name", "reason": "lowercase"}}
        kept = self.indexes.setdefault(index, {})
        if kind == "delete":
            found = kept.pop(id_ or "", None)
            return {
                "_index": index,
                "_id": id_,
                "status": 200 if found else 404,
                "result": "deleted" if found else "not_found",
            }
        if id_ is None:
            self._number += 1
            id_ = f"auto-{self._number}"
        is_new = id_ not in kept
        kept[id_] = document or {}
        return {"_index": index, "_id": id_, "status": 201 if is_new else 200}


@contextmanager
def search_server() -> Iterator[SearchServer]:
    """A server while the block lasts."""
    kept = SearchServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, answer = self._answer(body)
            if status == 0:
                self.close_connection = True
                return
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _answer(self, body: bytes) -> tuple[int, Document]:
            if kept.failures:
                told = kept.failures.pop(0)
                return (0, {}) if told == "drop" else (int(told), {"error": "as told"})
            if kept.authorization is not None and self.headers.get("Authorization") != kept.authorization:
                return 401, {"error": "missing authentication credentials"}
            if self.path != "/_bulk" or self.headers["Content-Type"] != "application/x-ndjson":
                return 400, {"error": f"{self.path} {self.headers['Content-Type']}"}
            if len(body) > kept.bytes_max:
                return 413, {"error": "too large"}
            answer = kept.bulk(body)
            if kept.lost_answers:
                kept.lost_answers -= 1
                return 0, {}
            return 200, answer

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield kept
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
