"""What a log is told when it is opened: how far it reached for certain."""

from __future__ import annotations

import logging
from pathlib import Path

from lakeward.runtime.files.port import Files
from lakeward.storage.kv.store.snapshots import stored_snapshots
from lakeward.storage.log.log_tablet import LogTablet
from lakeward.storage.log.segment.damage import Damage

_log = logging.getLogger(__name__)


def known_end(disk: Files, in_lake: int | None, kv_directory: Path | None) -> int:
    """What the lake has was in the log, and so was what a snapshot of the state knows."""
    snapshots = () if kv_directory is None else stored_snapshots(disk, kv_directory)
    return max([in_lake or 0, *(snapshot.log_offset for snapshot in snapshots)])


def tell(log: LogTablet) -> None:
    """Say what recovery did, and what is damaged."""
    for repair in log.repairs:
        _log.warning("recovered %s: %s", log.name, repair)
    for given in log.given_up:
        told = "%s: offsets %d to %d were given up (%s); readers go on behind them"
        _log.warning(told, log.name, given.first, given.end - 1, given.reason)
    for damage in log.damages:
        tell_damage(log.name, damage)


def tell_damage(name: str, damage: Damage) -> None:
    """Say what cannot be read."""
    _log.error("%s", damage.describe(name))
