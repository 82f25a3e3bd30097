"""What the service counts, for Prometheus: rounds, rows, bytes, files, seconds, and how far each table is behind."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from lakeward.client.admin.lake import TieringRound
from lakeward.client.blocking.sync import Connection
from lakeward.errors import LakewardError
from lakeward.runtime.clock import Clock
from lakeward.telemetry.metrics import Labels, Metrics
from lakeward.telemetry.rows import services as rows
from lakeward.tiering.round.round import RoundReport
from lakeward.tiering.watch.lag import lag_of


class ServiceMetrics:
    """A watcher that counts. The lag is asked for when somebody looks."""

    def __init__(self, conn: Connection, clock: Clock) -> None:
        self._conn = conn
        self._clock = clock
        self._lock = threading.Lock()
        self._tables: dict[str, int] = {}
        self._running: set[str] = set()
        self._metrics = Metrics()
        count, gauge = self._metrics.counter, self._metrics.gauge
        self._rounds = count(rows.TIERING_ROUNDS)
        self._rows = count(rows.TIERING_MOVED_ROWS)
        self._bytes = count(rows.TIERING_BYTES)
        self._files = count(rows.TIERING_FILES)
        self._seconds = count(rows.TIERING_SECONDS)
        self._now = gauge(rows.TIERING_RUNNING)
        self._lag_rows = gauge(rows.TIERING_LAG_ROWS)
        self._lag_seconds = gauge(rows.TIERING_LAG_SECONDS)

    def text(self) -> str:
        """Everything in Prometheus' text format."""
        with self._lock:
            names = sorted(self._tables)
            self._now.set(len(self._running))
        for name in names:
            self._look_at(name)
        with self._lock:
            return self._metrics.text()

    def _look_at(self, name: str) -> None:
        try:
            lag = lag_of(self._conn, self._conn.table(name), self._clock.now_ms())
        except LakewardError:
            return  # dropped, or the cluster is away: the last value stands
        with self._lock:
            self._lag_rows.set(lag.rows, _of(name))
            if lag.seconds is not None:
                self._lag_seconds.set(lag.seconds, _of(name))

    # -- what is watched ----------------------------------------------------------------------------------------------

    def on_begin(self, held: TieringRound) -> None:
        """One more under way."""
        with self._lock:
            self._tables[str(held.path)] = held.table_id
            self._running.add(str(held.path))

    def on_end(self, held: TieringRound, report: RoundReport) -> None:
        """Count what was moved."""
        self._end(held, "repaired" if report.repaired else "finished")
        with self._lock:
            labels = _of(str(held.path))
            self._rows.add(report.rows, labels)
            self._bytes.add(report.file_bytes, labels)
            self._files.add(report.files, labels)
            self._seconds.add(report.seconds, labels)

    def on_overtake(self, held: TieringRound, why: LakewardError) -> None:  # noqa: ARG002 - counted, not told
        """Count it."""
        self._end(held, "overtaken")

    def on_failure(self, held: TieringRound, why: LakewardError, pause_s: float) -> None:  # noqa: ARG002 - as above
        """Count it."""
        self._end(held, "failed")

    def on_fence(self, table_id: int, why: LakewardError) -> None:
        """Counted when the round ends."""

    def on_silence(self, why: LakewardError) -> None:
        """Nothing to count."""

    def close(self) -> None:
        """The page is closed by who opened it."""

    def _end(self, held: TieringRound, outcome: str) -> None:
        with self._lock:
            self._running.discard(str(held.path))
            self._rounds.add(1, (outcome, str(held.path)))


class MetricsText(Protocol):
    """Whatever has metrics to print."""

    def text(self) -> str:
        """Everything in Prometheus' text format."""


class MetricsPage:
    """Serves metrics at http://host:port/metrics, on a thread."""

    def __init__(self, metrics: MetricsText, port: int, host: str = "0.0.0.0") -> None:  # noqa: S104 - for Prometheus
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path != "/metrics":
                    self.send_error(404)
                    return
                body = metrics.text().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with suppress(ConnectionError):  # who asked has hung up
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Nobody wants a line for each look."""

        self._server = ThreadingHTTPServer((host, port), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _of(name: str) -> Labels:
    return (name,)
