"""A warehouse, rounds into it in this process, and the comparison that matters: the lake's rows are the log's rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lake_tables import read_by_duckdb, read_by_pyiceberg
from log_watcher import LogWatcher

import lakeward
from lakeward.client.admin.lake import TieringRound
from lakeward.client.forms.results import BucketId
from lakeward.runtime.clock import SystemClock
from lakeward.tiering.round.catalogs import LakeCatalogs
from lakeward.tiering.round.round import RoundContext, RoundReport, run_round
from lakeward.tiering.round.runner import LocalRunner
from lakeward.tiering.service import TieringService
from lakeward.tiering.watch.watchers import Watcher

#: Due at once, and again after each round.
TIERED = {
    "table.datalake.enabled": "true",
    "table.datalake.format": "iceberg",
    "table.datalake.freshness": "0 ms",
}
_SYSTEM = ("__bucket", "__offset", "__timestamp")


class Warehouse:
    """A local warehouse beside a server."""

    def __init__(self, bootstrap: str, directory: Path, *, is_told: bool = False) -> None:
        """`is_told` is for queries by the connection: it knows where the lake is."""
        self.bootstrap = bootstrap
        self.directory = directory
        self.conn = lakeward.connect(bootstrap, lake={"warehouse": str(directory)} if is_told else None)

    def close(self) -> None:
        """Close the connection."""
        self.conn.close()

    def context(self, **changes: Any) -> RoundContext:
        """What rounds share, with tasks on threads."""
        clock = SystemClock()
        given = {
            "conn": self.conn,
            "catalogs": LakeCatalogs({"warehouse": str(self.directory)}),
            "runner": LocalRunner(lambda _: self.conn, clock),
            "clock": clock,
            "bootstrap": self.bootstrap,
            "client": {},
        }
        return RoundContext(**{**given, **changes})

    def assigned(self, table: lakeward.Table) -> TieringRound:
        """A round of a table, as a coordinator would give it; the lake fences rounds, not the epoch."""
        return TieringRound(table.info.table_id, table.path, 0, 1)

    def round(self, table: lakeward.Table, **changes: Any) -> RoundReport:
        """One round, at once."""
        return run_round(self.context(**changes), self.assigned(table))

    def service(self, watcher: Watcher | None = None) -> TieringService:
        """A tiering service that is not running yet."""
        context = self.context()
        return TieringService(self.conn, lambda held: run_round(context, held), context.clock, watcher or LogWatcher())

    # -- what is there ------------------------------------------------------------------------------------------------

    def readers(self) -> tuple[Callable[[Path, str], list[dict[str, Any]]], ...]:
        """Readers that never heard of us."""
        return (read_by_pyiceberg, read_by_duckdb)

    def assert_same_log(self, table: lakeward.Table) -> int:
        """The lake's rows are the log's rows up to the committed offsets, each once; how many they are."""
        ends = self._ends(table)
        want = sorted(_place(row) + _own(row) for row in self._logged(table, ends))
        for read in self.readers():
            got = sorted(
                (row["__bucket"], row["__offset"], *_texts(row)) for row in read(self.directory, str(table.path))
            )
            assert got == want, read.__name__
        return len(want)

    def assert_same_state(self, table: lakeward.Table) -> int:
        """The lake's rows are the table's rows, while nobody writes."""
        assert all(end == table.offsets("latest")[id_] for id_, end in self._ends(table).items())
        want = sorted(_texts(row) for row in table.snapshot().to_pylist())
        for read in self.readers():
            assert sorted(_texts(row) for row in read(self.directory, str(table.path))) == want, read.__name__
        return len(want)

    def _ends(self, table: lakeward.Table) -> dict[BucketId, int]:
        told = self.conn.lake.snapshot(table.path)
        assert told is not None
        names = {None: None}
        if table.info.descriptor.is_partitioned:
            names = {p.id: p.name for p in table.partitions()}
        return {BucketId(names[b.partition_id], b.bucket): end for b, end in told.offsets.items()}

    def _logged(self, table: lakeward.Table, ends: dict[BucketId, int]) -> list[dict[str, Any]]:
        table.refresh()
        rows = table.scan(metadata_columns=True).to_arrow().to_pylist()
        partition = table.info.descriptor.partition_keys
        return [
            row
            for row in rows
            if row["_offset"] < ends.get(BucketId("$".join(str(row[k]) for k in partition) or None, row["_bucket"]), 0)
        ]


def _place(row: dict[str, Any]) -> tuple[int, int]:
    return row["_bucket"], row["_offset"]


def _own(row: dict[str, Any]) -> tuple[str, ...]:
    return _texts({k: v for k, v in row.items() if not k.startswith("_")})


def _texts(row: dict[str, Any]) -> tuple[str, ...]:
    """The table's own columns, in the order of their names; texts compare whatever they hold."""
    return tuple(f"{k}={row[k]!r}" for k in sorted(row) if k not in _SYSTEM)
