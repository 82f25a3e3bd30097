"""What a lake snapshot's own properties say of the round that made it.

The lake's snapshot is the only truth of what has been tiered. `commit-user` and `fluss-offsets` are what Apache Fluss
writes, so that either tiering service carries on the other's table; the rest is ours, and makes a snapshot tell all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.lake.offsets_document import offsets_of_json, offsets_to_json
from lakeward.model.bucket import TableBucket

COMMIT_USER = "__fluss_lake_tiering"
_USER, _OFFSETS_PATH = "commit-user", "fluss-offsets"
_OFFSETS, _EPOCH, _TABLE = "lakeward-offsets", "lakeward-tiering-epoch", "lakeward-table-id"


@dataclass(frozen=True, slots=True)
class RoundProperties:
    """One tiering round: which table, how far each bucket is afterwards."""

    table_id: int
    offsets: Mapping[TableBucket, int]
    tiering_epoch: int
    offsets_path: str = ""

    def to_properties(self) -> dict[str, str]:
        """As properties of a snapshot."""
        found = {
            _USER: COMMIT_USER,
            _OFFSETS: offsets_to_json(self.table_id, self.offsets),
            _EPOCH: str(self.tiering_epoch),
            _TABLE: str(self.table_id),
        }
        return found | {_OFFSETS_PATH: self.offsets_path} if self.offsets_path else found


def is_tiering_round(properties: Mapping[str, str]) -> bool:
    """Whether a tiering service, ours or Apache Fluss's, made the snapshot with these properties."""
    return properties.get(_USER) == COMMIT_USER


def offsets_in(properties: Mapping[str, str]) -> dict[TableBucket, int] | None:
    """How far each bucket is; None where the snapshot only names a document (`offsets_path_in`)."""
    text = properties.get(_OFFSETS)
    return None if text is None else offsets_of_json(text)


def offsets_path_in(properties: Mapping[str, str]) -> str | None:
    """The document that Apache Fluss keeps the offsets in."""
    return properties.get(_OFFSETS_PATH)


def tiering_epoch_in(properties: Mapping[str, str]) -> int | None:
    """The epoch of the round, where it was ours."""
    text = properties.get(_EPOCH)
    return None if text is None else int(text)
