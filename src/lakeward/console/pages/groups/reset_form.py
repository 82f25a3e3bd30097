"""ResetForm: where somebody wants a group to be, out of the fields of a form."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

from lakeward.model.moments import moment_of

#: Ways to say where to, and their words.
TARGETS = {
    "earliest": "the oldest row that is still there",
    "latest": "the end: only rows that come from now on",
    "timestamp": "a time",
    "offset": "an offset",
}
OFFSET_MAX = 2**63 - 1
_TEXT_MAX = 200
_BUCKETS_MAX = 1000


@dataclass(frozen=True, slots=True)
class ResetForm:
    """What was sent: texts as they were typed."""

    group: str
    table: str
    to: str
    value: str = ""
    partition: str = ""
    buckets: str = ""


@dataclass(slots=True)
class Reset:
    """What a form means; `errors` has a sentence for each field that means nothing."""

    to: str | int | datetime = "earliest"
    partitions: list[str] | None = None
    buckets: list[int] | None = None
    errors: dict[str, str] = field(default_factory=dict)


def reset_of(form: ResetForm, now_ms: int) -> Reset:
    """Read a form; times without a zone are UTC, as everywhere in the console."""
    found = Reset()
    if not form.group.strip() or len(form.group) > _TEXT_MAX:
        found.errors["group"] = f"A group has a name, of at most {_TEXT_MAX} characters."
    if not form.table.strip():
        found.errors["table"] = "Choose the table to move the group in."
    _read_target(form, now_ms, found)
    if form.partition.strip():
        found.partitions = [form.partition.strip()]
    if form.buckets.strip():
        _read_buckets(form.buckets, found)
    return found


def _read_target(form: ResetForm, now_ms: int, found: Reset) -> None:
    text = form.value.strip()
    if form.to not in TARGETS:
        found.errors["to"] = "Choose where to move the group."
    elif form.to in {"earliest", "latest"}:
        found.to = form.to
        if text:
            found.errors["value"] = "This belongs to a time or an offset: choose one of those, or leave it empty."
    elif form.to == "offset":
        if text.isascii() and text.isdecimal() and len(text) <= len(str(OFFSET_MAX)) and int(text) <= OFFSET_MAX:
            found.to = int(text)
        else:
            found.errors["value"] = "An offset is a whole number from 0 on."
    else:
        try:
            found.to = moment_of(text, now_ms, UTC)
        except ValueError:
            found.errors["value"] = "A time is such as 2026-08-01T12:00:00Z (UTC without a zone) or 15m-ago."


def _read_buckets(text: str, found: Reset) -> None:
    parts = [part.strip() for part in text.split(",")]
    is_right = all(part.isascii() and part.isdecimal() and len(part) < len(str(OFFSET_MAX)) for part in parts)
    if is_right and len(parts) <= _BUCKETS_MAX:
        found.buckets = [int(part) for part in parts]
    else:
        found.errors["buckets"] = "Numbers of buckets, with commas between them: 0, 3."
