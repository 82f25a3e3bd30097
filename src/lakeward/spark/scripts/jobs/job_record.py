"""JobRecord: what is written down of a job, so that the next run, and `lakeward jobs`, know of it."""

from __future__ import annotations

import dataclasses
import enum
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_VERSION = 1


class JobState(enum.StrEnum):
    """How a job is."""

    RUNNING = "running"
    STOPPED = "stopped"
    FINISHED = "finished"
    FAILED = "failed"
    KILLED = "killed"
    """Never written down: the record says running, and nobody holds the lock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamProgress:
    """How far a stream is, counted from the start of its job's present run."""

    rows: int = 0
    rows_per_s: float = 0.0
    lag_rows: int | None = None
    """Rows that its sources have and it has not read; None where they cannot tell."""
    lag_ms: int | None = None
    """How long the oldest of them has waited."""
    state_rows: int | None = None
    """Rows that the query keeps; None when it keeps none."""
    late_rows: int = 0
    """Rows that came after their window was closed, and were dropped."""
    skipped_rows: int = 0
    """Messages that could not be read, and were left out."""
    batches: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRecord:
    """What a stream was begun with; a stream that cannot go on from this is not started."""

    sink: str
    text: str
    sources: tuple[str, ...]
    state: str
    checkpoint: str
    into: str = ""
    progress: StreamProgress = StreamProgress()


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job, as it was when this was written."""

    name: str
    state: JobState
    since_ms: int
    pid: int
    checkpoint: str
    streams: tuple[StreamRecord, ...]
    script: str | None = None
    ordinal: int = 0
    """Which of the script's jobs into the same sinks it was, from 0."""
    is_named: bool = False
    """Whether the script gave it its name."""
    children: tuple[str, ...] = ()
    """Marks of the processes that do the work for it, Spark's Java above all; they end a moment after it."""
    ended_ms: int | None = None
    error: str | None = None

    @property
    def sinks(self) -> tuple[str, ...]:
        """Where its rows go."""
        return tuple(stream.sink for stream in self.streams)

    @property
    def texts(self) -> tuple[str, ...]:
        """What its statements were."""
        return tuple(stream.text for stream in self.streams)

    def to_json(self) -> bytes:
        """The JSON form."""
        return json.dumps({"version": _VERSION, **dataclasses.asdict(self)}, indent=2, ensure_ascii=False).encode()

    @classmethod
    def of_json(cls, content: bytes) -> JobRecord:
        """Read the JSON form; a ValueError where it is none."""
        try:
            found = json.loads(content)
            if found.pop("version") != _VERSION:
                raise ValueError("it is of another version of Lakeward")
            streams = tuple(_stream_of(stream) for stream in found.pop("streams"))
            children = tuple(found["children"])
            return cls(**{**found, "state": JobState(found["state"]), "streams": streams, "children": children})
        except (KeyError, TypeError, AttributeError) as wrong:
            raise ValueError(f"{type(wrong).__name__}: {wrong}") from wrong


def _stream_of(found: Mapping[str, Any]) -> StreamRecord:
    progress = StreamProgress(**found["progress"])
    return StreamRecord(**{**found, "sources": tuple(found["sources"]), "progress": progress})
