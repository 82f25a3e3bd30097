"""Reporter: somebody to whom metrics are sent, now and then."""

from __future__ import annotations

from collections.abc import Generator
from typing import Protocol

from lakeward.telemetry.prometheus_text import Family


class Reporter(Protocol):
    """`encode` runs on the loop, in steps; `send` and `close` on a thread, where they may wait."""

    @property
    def name(self) -> str:
        """As options and metrics call it."""

    @property
    def interval_s(self) -> float:
        """How often it wants a report."""

    def encode(self, families: list[Family], now_ms: int) -> Generator[None, None, bytes]:
        """What there is to be sent."""

    def send(self, body: bytes) -> None:
        """Send it; OSError says why that did not work."""

    def close(self) -> None:
        """The last words, if there are any; OSError as above."""
