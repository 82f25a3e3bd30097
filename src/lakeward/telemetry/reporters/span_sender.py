"""SpanSender: sends the spans of a process that has no event loop, on a thread."""

from __future__ import annotations

import logging
import threading

from lakeward.telemetry.reporters.otlp_collector import OtlpCollector

_log = logging.getLogger(__name__)


class SpanSender:
    """Sends by the clock until it is closed; what fails is told once, and tried again."""

    def __init__(self, collector: OtlpCollector) -> None:
        self._collector = collector
        self._closing = threading.Event()
        self._is_failing = False
        self._thread = threading.Thread(target=self._repeat, name="spans", daemon=True)
        self._thread.start()

    def _repeat(self) -> None:
        while not self._closing.wait(self._collector.interval_s):
            self._send()

    def _send(self) -> None:
        try:
            self._collector.send(b"")
        except OSError as wrong:
            if not self._is_failing:
                _log.warning("traces could not be sent, and are tried again: %s", wrong)
            self._is_failing = True
        else:
            self._is_failing = False

    def close(self) -> None:
        """Send the last ones."""
        self._closing.set()
        self._thread.join()
        self._send()
