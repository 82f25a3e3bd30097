"""Is the server well? What `/health` answers, and what is counted of damaged logs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from lakeward.runtime.trusted_clock import TrustedClock
from lakeward.runtime.version import VERSION
from lakeward.server.buckets.logs import Logs
from lakeward.server.report.seen_clients import SeenClients
from lakeward.telemetry.metrics import Metrics
from lakeward.telemetry.rows import storage as metric_rows

_DAMAGES_SHOWN_MAX = 100


def health(
    tables: Iterable[object],
    logs: Logs,
    stopped: Mapping[str, Any],
    clock: TrustedClock,
    clients: SeenClients,
    snapshots: Iterable[Path] = (),
    servers: Mapping[str, Any] | None = None,
) -> str:
    """One JSON document; `stopped` says why nothing may be written, if nothing may; `snapshots` are damaged ones;
    `servers` are the tablet servers of a coordinator."""
    node: dict[str, Any] = {
        "status": "ok",
        "tables": sum(1 for _ in tables),
        "version": VERSION,
        "time_ms": clock.now_ms(),
        "clients": clients.document(),
    }
    if servers is not None:
        node |= {"status": "incomplete" if servers["away"] else "ok", "tablet_servers": servers}
    damaged = [
        {"log": log.name, "first": one.first, "end": one.end, "file": str(one.path), "reason": one.reason}
        for log, one in islice(logs.damages(), _DAMAGES_SHOWN_MAX)
    ]
    if damaged:
        node |= {"status": "damaged", "damaged": damaged}
    # They cost no row: older ones and the log are used, so the status is as before.
    if told := [str(path) for path in islice(snapshots, _DAMAGES_SHOWN_MAX)]:
        node["damaged_snapshots"] = told
    if stopped:
        node |= {"status": "read-only", **stopped}
    if clock.trouble is not None:
        node["clock"] = clock.trouble
    return json.dumps(node) + "\n"


def declare_damage(metrics: Metrics, logs: Logs) -> None:
    """Count what is damaged and what was given up, in the logs that are in use."""
    damaged = metrics.gauge(metric_rows.DAMAGED)
    damaged.read_from(lambda: sum(1 for _ in logs.damages()))
    given = metrics.gauge(metric_rows.GIVEN_UP)
    given.read_from(lambda: sum(len(log.given_up) for _, log in logs.all()))
