"""Names that a person may have meant: of commands, and of what a server has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING

from lakeward.errors import ErrorCode, LakewardError

if TYPE_CHECKING:
    from lakeward.cli.input.session import Session
    from lakeward.client.blocking.sync import Connection

_LIKENESS = 0.6
_NAMED = re.compile(r"(?:table|database) [\"'`]?([\w$.-]*[\w$-])", re.IGNORECASE)
_TIMEOUT = "700 ms"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The most alike of some names; None when none is."""
    by_lower = {known.lower(): known for known in names}
    if (plural := by_lower.get(f"{name.lower()}s")) is not None:  # `table` is nearer to `tables` than to `tablet`
        return plural
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=_LIKENESS)
    return by_lower[found[0]] if found else None


def nearest_table(name: str, names: Iterable[str]) -> str | None:
    """The table that was meant by `db.table`: database and table must both be alike, or the table the very same."""
    likeness, near = max(((_table_likeness(name.lower(), known.lower()), known) for known in names), default=(0.0, ""))
    return near if likeness >= _LIKENESS else None


def _table_likeness(name: str, known: str) -> float:
    pairs = list(zip(name.split(".", 1), known.split(".", 1), strict=False))
    worst = min(SequenceMatcher(None, one, other).ratio() for one, other in pairs)
    return max(worst, _LIKENESS) if pairs[-1][0] == pairs[-1][1] else worst


def hint_for(session: Session, wrong: LakewardError) -> str:
    """What else a person can try after an error, as a sentence with a space in front; empty when nobody knows."""
    if wrong.code is ErrorCode.DATABASE_NOT_EMPTY:
        return " --cascade drops its tables too."
    if wrong.code is ErrorCode.AUTHENTICATE and not session.credentials.user:
        return " --user says who you are; the password is taken from LAKEWARD_PASSWORD, or asked for."
    if wrong.code not in {ErrorCode.TABLE_NOT_EXIST, ErrorCode.DATABASE_NOT_EXIST}:
        return ""
    named = _NAMED.search(wrong.message)
    if named is None:
        return ""
    try:
        with session.connect(connect_timeout=_TIMEOUT, request_timeout=_TIMEOUT) as connection:
            is_table = wrong.code is ErrorCode.TABLE_NOT_EXIST
            near = (nearest_table if is_table else nearest)(named[1], _names(connection, wrong.code))
    except Exception:  # noqa: BLE001 - a hint is not worth another error
        return ""
    return "" if near is None or near == named[1] else f" Did you mean {near}?"


def _names(connection: Connection, code: ErrorCode) -> list[str]:
    databases = connection.databases()
    if code is ErrorCode.DATABASE_NOT_EXIST:
        return databases
    return [f"{database}.{table}" for database in databases for table in connection.tables(database)]
