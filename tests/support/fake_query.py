"""A streaming query without Spark: it reports, fails and ends when a test says so."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lakeward.spark.scripts.jobs.stream_plan import StreamPlan


class FakeQuery:
    """What PySpark's query and the Java object behind it have in common with what jobs ask of them."""

    def __init__(self, checkpoint: str = "", name: str = "") -> None:
        self.checkpoint, self.name = checkpoint, name
        self.isActive = True
        self.is_busy = False
        self.reports: list[dict[str, Any]] = []
        self.error: str | None = None
        self._jsq = self

    def report(self, batch: int, rows: int, **more: Any) -> None:
        """Tell of a batch."""
        at = f"2026-11-16T00:00:{len(self.reports):02}.000Z"
        self.reports.append({"batchId": batch, "timestamp": at, "numInputRows": rows, **more})

    def fail(self, message: str) -> None:
        """End with an error."""
        self.error, self.isActive = message, False

    def stop(self) -> None:
        """End without one."""
        self.isActive = False

    # What Java would answer.

    def recentProgress(self) -> list[Any]:  # noqa: N802 - Spark's name
        """The reports, as Java has them."""
        return [_Report(report) for report in self.reports]

    def lastProgress(self) -> Any:  # noqa: N802 - Spark's name
        """The last of them."""
        return _Report(self.reports[-1]) if self.reports else None

    def exception(self) -> Any:
        """An option of an exception."""
        return self

    def isDefined(self) -> bool:  # noqa: N802 - Java's name
        """Whether there is one."""
        return self.error is not None

    def get(self) -> Any:
        """The exception."""
        return self

    def getMessage(self) -> str | None:  # noqa: N802 - Java's name
        """What it says."""
        return self.error

    def getCause(self) -> None:  # noqa: N802 - Java's name
        """It has none."""

    def status(self) -> Any:
        """What it does just now."""
        return self

    def isTriggerActive(self) -> bool:  # noqa: N802 - Spark's name
        """Whether a batch is under way."""
        return self.is_busy

    def message(self) -> str:
        """The same in words."""
        return "Processing new data" if self.is_busy else "Waiting for data to arrive"


class _Report:
    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    def json(self) -> str:
        """The report."""
        return json.dumps(self._told)

    def batchId(self) -> int:  # noqa: N802 - Spark's name
        """Its batch."""
        return int(self._told["batchId"])

    def timestamp(self) -> str:
        """When."""
        return str(self._told["timestamp"])


class FakeStreams:
    """Makes plans whose queries can be had by their names; a query that starts leaves a checkpoint with one batch."""

    def __init__(self) -> None:
        self.queries: dict[str, FakeQuery] = {}
        self.checkpoints: list[str] = []

    def plan(
        self,
        text: str = "INSERT INTO copies SELECT * FROM orders",
        sink: str = "default_catalog.shop.copies",
        *,
        sources: tuple[str, ...] = ("localhost:9123/shop.orders",),
        state: str = "",
        into: str = "",
        is_finished: Callable[[dict[str, Any]], bool] | None = None,
        start: Callable[[str, str], Any] | None = None,
    ) -> StreamPlan:
        """A plan that reads orders into copies, unless told otherwise."""
        return StreamPlan(sink, text, sources, state, start or self._start, is_finished, into)

    def _start(self, checkpoint: str, name: str) -> Any:
        leave_batch(checkpoint)
        self.checkpoints.append(checkpoint)
        self.queries[name] = FakeQuery(checkpoint, name)
        return self.queries[name]


def leave_batch(checkpoint: str, batch: int = 0) -> None:
    """Write what Spark writes of one batch."""
    from pathlib import Path

    for folder, lines in (("offsets", ["v1", '{"batchWatermarkMs":0}', '{"0":1}']), ("commits", ["v1", "{}"])):
        (Path(checkpoint) / folder).mkdir(parents=True, exist_ok=True)
        (Path(checkpoint) / folder / str(batch)).write_text("\n".join(lines))
    (Path(checkpoint) / "metadata").write_text('{"id":"6c4d"}')
