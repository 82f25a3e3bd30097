"""TailForm: what was asked of a tail, as it stands in the address of its page; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lakeward.model.table import TableInfo

_MINUTE_MS = 60_000
#: Where a tail may begin: the word in the address, what people read, and how far back it is.
STARTS: tuple[tuple[str, str, int | None], ...] = (
    ("latest", "now: only rows that come from here on", None),
    ("last", "the last rows, up to 20 of each bucket", None),
    ("1m", "one minute ago", _MINUTE_MS),
    ("15m", "15 minutes ago", 15 * _MINUTE_MS),
    ("1h", "one hour ago", 60 * _MINUTE_MS),
    ("1d", "one day ago", 24 * 60 * _MINUTE_MS),
    ("earliest", "the beginning of the log", None),
)
AGO_MS = {word: ago for word, _, ago in STARTS if ago is not None}
WHERE_LENGTH_MAX = 2000
LAST_ROWS = 20


@dataclass(frozen=True, slots=True)
class TailForm:
    """What is shown of a table; `columns` are all of them unless some were chosen."""

    columns: tuple[str, ...]
    where: str = ""
    start: str = "last"
    with_origin: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)


def tail_form(info: TableInfo, chosen: Sequence[str], where: str, start: str, with_origin: bool) -> TailForm:
    """The form as it was sent, with a sentence for each field that is wrong."""
    names = info.schema.names
    errors: dict[str, str] = {}
    unknown = [name for name in chosen if name not in names]
    if unknown:
        errors["column"] = f"There is no column '{unknown[0]}'; there are {', '.join(names)}."
    if len(where) > WHERE_LENGTH_MAX:
        errors["where"] = f"A condition has at most {WHERE_LENGTH_MAX:,} characters; this one has {len(where):,}."
    words = [word for word, _, _ in STARTS]
    if start not in words:
        errors["from"] = f"There is no such beginning; there are {', '.join(words)}."
        start = "last"
    kept = tuple(name for name in names if name in chosen) or names
    return TailForm(kept, where.strip(), start, with_origin, errors)
