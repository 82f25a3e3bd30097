"""Time zones by the names that clients have for them: those that both DuckDB and Arrow know."""

from __future__ import annotations

import re
from functools import cache

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.query.duckdb.duck_session import duck_cursor
from lakeward.query.duckdb.question.closed_session import UTC

#: Hours east of Greenwich, as Postgres takes a number.
_HOURS = re.compile(r"([+-]?)(\d{1,2})(?:\.0*)?")


def zone_of(text: str) -> str | None:
    """The name of a zone as DuckDB writes it, in whatever case it was given, or of so many hours; None if unknown."""
    hours = _HOURS.fullmatch(text.strip())
    if hours is not None:
        west = "+" if hours[1] == "-" else "-"  # the names of these have their signs turned round
        text = UTC if not int(hours[2]) else f"Etc/GMT{west}{int(hours[2])}"
    found = UTC if text.upper() == UTC else _zones().get(text.strip().lower())
    return found if found is not None and (found == UTC or _is_known(found)) else None


@cache
def _zones() -> dict[str, str]:
    with duck_cursor() as duck:
        return {name.lower(): name for (name,) in duck.execute("SELECT name FROM pg_timezone_names()").fetchall()}


@cache
def _is_known(zone: str) -> bool:
    """Whether Arrow, by which times become texts, has it: some machines know no zones."""
    try:
        pc.local_timestamp(pa.array([0], pa.timestamp("us", zone)))
    except pa.ArrowException:
        return False
    return True
