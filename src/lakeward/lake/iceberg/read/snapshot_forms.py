"""An Iceberg snapshot → what the port says of it."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.lake.port import LakeSnapshot
from lakeward.lake.round_properties import offsets_in, offsets_path_in, tiering_epoch_in


def describe_snapshot(snapshot_id: int, committed_ms: int, properties: Mapping[str, str]) -> LakeSnapshot:
    """A snapshot that a tiering service made; `properties` is its summary."""
    return LakeSnapshot(
        snapshot_id,
        committed_ms,
        offsets_in(properties),
        offsets_path_in(properties),
        tiering_epoch_in(properties),
        properties,
        _number(properties, "total-records"),
        _number(properties, "total-files-size"),
    )


def _number(properties: Mapping[str, str], key: str) -> int | None:
    text = properties.get(key)
    return None if text is None else int(text)
