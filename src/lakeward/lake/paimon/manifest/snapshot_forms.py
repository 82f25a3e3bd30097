"""A Paimon snapshot → what the port says of it."""

from __future__ import annotations

from lakeward.lake.paimon.manifest.snapshots import PaimonSnapshot
from lakeward.lake.port import LakeSnapshot
from lakeward.lake.round_properties import COMMIT_USER, offsets_in, offsets_path_in, tiering_epoch_in

USER = "commit-user"


def describe_snapshot(snapshot: PaimonSnapshot) -> LakeSnapshot:
    """A snapshot that a tiering service made."""
    properties = {**snapshot.properties, USER: snapshot.user}
    return LakeSnapshot(
        snapshot.id,
        snapshot.time_ms,
        offsets_in(properties),
        offsets_path_in(properties),
        tiering_epoch_in(properties),
        properties,
    )


def is_round(snapshot: PaimonSnapshot) -> bool:
    """Whether a tiering service made it."""
    known = snapshot.properties
    return snapshot.user == COMMIT_USER and (offsets_in(known) is not None or offsets_path_in(known) is not None)
