"""LookupHandle: a table of a cluster in which rows are looked up by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class LookupHandle:
    """The table's name on its cluster, its keys, and how it is reached and its rows remembered."""

    table: str
    primary_key: tuple[str, ...]
    bucket_key: tuple[str, ...]
    options: Mapping[str, str]
