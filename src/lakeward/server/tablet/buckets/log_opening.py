"""What a log is told when it is opened: its name, and how far it reached for certain."""

from __future__ import annotations

import logging
from pathlib import Path

from lakeward.model.table import TableInfo
from lakeward.storage.kv.store.snapshots import stored_snapshots
from lakeward.storage.log.log_tablet import LogTablet

_log = logging.getLogger(__name__)


def log_name(table: TableInfo, bucket: int, partition: str | None) -> str:
    """Table, bucket and partition, as `lakeward repair` wants to hear them."""
    return f"{table.path} {bucket}" + ("" if partition is None else f" --partition {partition}")


def known_end(in_lake: int | None, kv_directory: Path | None) -> int:
    """What the lake has was in the log, and so was what a snapshot of the state knows."""
    snapshots = () if kv_directory is None else stored_snapshots(kv_directory)
    return max([in_lake or 0, *(snapshot.log_offset for snapshot in snapshots)])


def tell(log: LogTablet) -> None:
    """Say what recovery did, what is damaged, and from now on what is found to be."""
    for repair in log.repairs:
        _log.warning("recovered %s: %s", log.name, repair)
    for given in log.given_up:
        told = "%s: offsets %d to %d were given up (%s); readers go on behind them"
        _log.warning(told, log.name, given.first, given.end - 1, given.reason)
    log.on_damage = lambda damage: _log.error("%s", damage.told(log.name))
    for damage in log.damages:
        log.on_damage(damage)
