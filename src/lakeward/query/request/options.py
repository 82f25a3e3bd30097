"""The options of a read as values; their rows are in `lakeward.options.spark`."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.options import spark as rows


class StartupMode(enum.StrEnum):
    """Where a stream without a checkpoint begins."""

    FULL = "full"
    EARLIEST = "earliest"
    LATEST = "latest"
    TIMESTAMP = "timestamp"
    GROUP = "group"


class Deletes(enum.StrEnum):
    """What a stream of plain rows does when it meets a delete."""

    FAIL = "fail"
    IGNORE = "ignore"


class Tiers(enum.StrEnum):
    """Which half of a table with a lake a bounded read sees."""

    ALL = "all"
    LOG = "log"
    LAKE = "lake"


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the options of a read say."""

    mode: StartupMode = StartupMode.FULL
    start_ms: int | None = None
    split_rows: int | None = None
    deletes: Deletes = Deletes.FAIL
    fail_on_data_loss: bool = True
    skip_damaged: bool = False
    group: str | None = None
    rows_max: int | None = None
    bytes_max: int | None = None
    tiers: Tiers = Tiers.ALL
    snapshot_id: int | None = None
    tag: str | None = None
    as_of_ms: int | None = None

    @property
    def travels(self) -> bool:
        """Whether the table is read as it was."""
        return (self.snapshot_id, self.tag, self.as_of_ms) != (None, None, None)

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReadOptions:
        """The values of these options, checked; those that are not about reading are left alone."""
        given = rows.connector_options(options)
        return cls(
            mode=StartupMode(rows.STARTUP_MODE.read(given)),
            start_ms=rows.STARTUP_TIMESTAMP.read(given),
            split_rows=rows.SPLIT_ROWS.read(given),
            deletes=Deletes(rows.SCAN_DELETES.read(given)),
            fail_on_data_loss=rows.FAIL_ON_DATA_LOSS.read(given),
            skip_damaged=rows.SKIP_DAMAGED.read(given),
            group=rows.GROUP_ID.read(given),
            rows_max=rows.MAX_ROWS.read(given),
            bytes_max=rows.MAX_BYTES.read(given),
            tiers=Tiers(rows.SCAN_TIERS.read(given)),
            snapshot_id=rows.SNAPSHOT_ID.read(given),
            tag=rows.TAG.read(given),
            as_of_ms=rows.AS_OF.read(given),
        )
