"""Tiering and the lake."""

from __future__ import annotations

from collections.abc import Iterator

from lakeward.doctor.facts.facts import Facts
from lakeward.doctor.facts.tables import TableFacts
from lakeward.doctor.findings.check import Check, Verdict, error, warning
from lakeward.options.table import LAKE_ENABLED, LAKE_FRESHNESS
from lakeward.options.tiering import PAUSED

#: A round may come late by this many times the freshness, and by so many seconds, before anybody is told.
_TIMES_LATE = 3
_GRACE_S = 60.0


def lake_tables(facts: Facts) -> Iterator[TableFacts]:
    """Those that are tiered, and not paused by somebody."""
    for table in facts.tables or ():
        if LAKE_ENABLED.read(table.properties) and not PAUSED.read(table.custom):
            yield table


def _failing(facts: Facts) -> Iterator[Verdict]:
    tables = {table.name for table in lake_tables(facts)}
    for name, status in (facts.tiering or {}).items():
        if status.state == "failed" and name in tables:
            yield error(
                name,
                f"The last round of {name} failed ({status.failures} in a row): {status.reason}",
                f"Mend what the reason names, then `lakeward tier now {name}`; `lakeward tier status` shows how it"
                " goes.",
            )


def _late(facts: Facts) -> Iterator[Verdict]:
    failed = {name for name, status in (facts.tiering or {}).items() if status.state == "failed"}
    for table in lake_tables(facts):
        freshness_s = LAKE_FRESHNESS.read(table.properties) / 1000
        lag = table.lag_seconds
        if lag is None or lag <= _TIMES_LATE * freshness_s + _GRACE_S or table.name in failed:
            continue
        status = (facts.tiering or {}).get(table.name)
        rested_s = _quiet_s(facts, status.state_since_ms if status else None)
        if status is None or rested_s > _TIMES_LATE * freshness_s + _GRACE_S:
            yield error(
                table.name,
                f"The lake is {lag:,.0f} s and {table.lag_rows:,} rows behind {table.name}, and no tiering service has"
                f" begun a round{'' if status is None else f' for {rested_s:,.0f} s'}.",
                "Start the service, or look at its log: `lakeward tier --warehouse …`.",
            )
        else:
            yield warning(
                table.name,
                f"The lake is {lag:,.0f} s and {table.lag_rows:,} rows behind {table.name}, whose freshness is"
                f" {freshness_s:,.0f} s.",
                "Give the service more cores, or a second one beside it; `lakeward tier status` shows how long rounds"
                " take.",
            )


def _unreachable(facts: Facts) -> Iterator[Verdict]:
    for lake in facts.lakes or ():
        if lake.trouble is not None:
            yield error(
                lake.table,
                f"The lake ({lake.format}) cannot be opened from here, tried with {lake.table}: {lake.trouble}",
                "Look whether its store is up and may be reached, and whether its keys are right: queries over the lake"
                f" and tiering need both. `lakeward plan {lake.table}` tries again.",
            )


def _quiet_s(facts: Facts, since_ms: int | None) -> float:
    return 0.0 if since_ms is None else max(0, facts.now_ms - since_ms) / 1000


LAKE_CHECKS = (
    Check("lake-unreachable", "Whether the lake can be opened from here.", _unreachable, needs=("lakes",)),
    Check("tiering-failing", "Rounds of tiering that failed, and why.", _failing, needs=("tiering", "tables")),
    Check(
        "lake-lag",
        "How far the lake is behind each table, against its freshness, and whether a tiering service runs.",
        _late,
        needs=("tables", "tiering"),
    ),
)
