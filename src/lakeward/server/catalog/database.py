"""DatabaseInfo: a database that exists."""

from __future__ import annotations

from dataclasses import dataclass

from lakeward.model.json_form import DatabaseDescriptor


@dataclass(frozen=True)
class DatabaseInfo:
    """A database that exists."""

    name: str
    descriptor: DatabaseDescriptor
    created_ms: int
    modified_ms: int
