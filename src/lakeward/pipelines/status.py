"""PipelineStatus: how a pipeline is, as it is written down for other processes."""

from __future__ import annotations

import dataclasses
import enum
import json
from dataclasses import dataclass
from typing import Any

_VERSION = 1


class PipelineState(enum.StrEnum):
    """How a pipeline is."""

    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    """It failed, and is tried again in a while."""
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"
    KILLED = "killed"
    """Never written down: the record says otherwise, and nobody holds the lock."""


RUNS = (PipelineState.STARTING, PipelineState.RUNNING, PipelineState.WAITING)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableStatus:
    """How far one table is, counted from the start of the present run."""

    source: str
    target: str
    phase: str = "waiting"
    rows: int = 0
    rows_per_s: float = 0.0
    lag_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineStatus:
    """A pipeline, as it was when this was written."""

    name: str
    state: PipelineState
    pid: int
    since_ms: int
    file: str
    source: str
    sink: str
    checkpoint: str = ""
    phase: str = "starting"
    tables: tuple[TableStatus, ...] = ()
    rows: int = 0
    rows_per_s: float = 0.0
    lag_ms: int | None = None
    held_bytes: int | None = None
    """What of its log the database keeps for this pipeline alone."""
    restarts: int = 0
    error: str | None = None
    """Why it failed last."""
    next_try_ms: int | None = None
    ended_ms: int | None = None
    notes: tuple[str, ...] = ()

    def to_json(self) -> bytes:
        """The JSON form."""
        return json.dumps({"version": _VERSION, **self.to_map()}, indent=2, ensure_ascii=False).encode()

    def to_map(self) -> dict[str, Any]:
        """Names and values, of JSON's types."""
        return dataclasses.asdict(self)

    @classmethod
    def of_json(cls, content: bytes) -> PipelineStatus:
        """Read the JSON form; a ValueError where it is none."""
        try:
            found = json.loads(content)
            if found.pop("version") != _VERSION:
                raise ValueError("it is of another version of Lakeward")
            tables = tuple(TableStatus(**table) for table in found.pop("tables"))
            notes = tuple(found.pop("notes"))
            return cls(**{**found, "state": PipelineState(found["state"]), "tables": tables, "notes": notes})
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError(f"{type(wrong).__name__}: {wrong}") from wrong
