"""Health: whether the cluster does well, in a word and a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lakeward.options.secrets import without_passwords


@dataclass(frozen=True, slots=True)
class Health:
    """A word for a badge, a sentence, and how it looks: good, warn or bad."""

    word: str
    sentence: str
    level: str


def health_of(report: Mapping[str, Any] | None) -> Health:
    """What /health of a server means; None is a cluster that answers and has no such page."""
    if report is None:
        return Health("answers", "The cluster answers. It has no page of its health, as Apache Fluss has none.", "good")
    status = str(report.get("status", "unknown"))
    clock = report.get("clock")
    if status == "read-only":
        reasons = [str(report[key]) for key in ("reason", "disk", "why") if report.get(key)]
        said = f" {' '.join(reasons)}" if reasons else ""
        return Health("read-only", f"The server takes no writes.{said}", "bad")
    if status == "damaged":
        ranges = len(report.get("damaged") or ())
        return Health("damaged", f"{ranges} stretches of logs cannot be read: `lakeward verify` tells which.", "bad")
    if status == "incomplete":
        away = ", ".join(map(str, (report.get("tablet_servers") or {}).get("away", ())))
        return Health("incomplete", f"Tablet servers are away, and their buckets wait for them: {away}.", "bad")
    if clock:
        return Health("clock in doubt", str(clock), "warn")
    if status == "ok":
        return Health("well", "The server answers and says that it is well.", "good")
    return Health(status[:40], "The server says no more than that.", "warn")


def health_without_answer(why: str) -> Health:
    """Nobody answers."""
    return Health("down", f"{without_passwords(why)} The page goes on as soon as the cluster answers.", "bad")
