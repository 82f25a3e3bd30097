"""Loaded: a table as it is answered, with its ETag."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Loaded:
    """A table's metadata, where it lies, and how its files are reached."""

    #: None for a table that is staged, and not committed.
    metadata_location: str | None
    metadata_json: str
    config: Mapping[str, str] = field(default_factory=dict)
    credentials: tuple[Mapping[str, Any], ...] = ()

    def etag(self, snapshots: str) -> str:
        """What changes when the answer does, and when its keys do."""
        told = f"{self.metadata_location} {snapshots} {self.config.get('s3.access-key-id')}".encode()
        return f'"{hashlib.sha256(told).hexdigest()[:32]}"'

    def body(self, snapshots: str) -> bytes:
        """The answer; with `refs` only those snapshots that have a name."""
        metadata = self.metadata_json if snapshots != "refs" else _named_snapshots(self.metadata_json)
        rest: dict[str, Any] = {"config": dict(self.config)}
        if self.credentials:
            rest["storage-credentials"] = [dict(one) for one in self.credentials]
        if self.metadata_location is not None:
            rest["metadata-location"] = self.metadata_location
        return f'{{"metadata":{metadata},{json.dumps(rest)[1:]}'.encode()


def _named_snapshots(text: str) -> str:
    told = json.loads(text)
    named = {ref["snapshot-id"] for ref in told.get("refs", {}).values()} | {told.get("current-snapshot-id")}
    told["snapshots"] = [one for one in told.get("snapshots", []) if one["snapshot-id"] in named]
    return json.dumps(told)
