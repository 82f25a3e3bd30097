"""Rows of the format `json`, by the names that other systems have for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.options.kinds import choice
from lakeward.options.option import OptionTable, Scope

JSON_OPTIONS = OptionTable(Scope.CONNECTOR)
_row, _switch = JSON_OPTIONS.row, JSON_OPTIONS.switch

_FAIL_ON_MISSING = _switch("json.fail-on-missing-field", "Whether a message without one of the columns is bad.")
_IGNORE_ERRORS = _switch(
    "json.ignore-parse-errors",
    "Whether a value that does not fit its column is NULL, and a message that is no row left out and counted.",
)
_TIMESTAMPS = _row(
    "json.timestamp-format.standard",
    choice("SQL", "ISO-8601"),
    "SQL",
    "How times are written: `2026-11-01 00:00:00.000`, or with a T in between. Both are read.",
)
_IGNORE_NULLS = _switch("json.encode.ignore-null-fields", "Whether columns that are NULL are left out when written.")
for _key in ("json.encode.decimal-as-plain-number", "json.map-null-key.mode", "json.map-null-key.literal"):
    JSON_OPTIONS.inert(_key)  # keys of a MAP are never NULL


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonSettings:
    """What the options say."""

    fails_on_missing: bool = False
    ignores_errors: bool = False
    is_iso: bool = False
    ignores_nulls: bool = False

    @classmethod
    def of(cls, options: Mapping[str, str], name: str = "json") -> JsonSettings:
        """Read them; other formats that are made of JSON have the same options under their own name."""
        mine = {f"json{key.removeprefix(name)}": value for key, value in options.items() if key.startswith(f"{name}.")}
        return cls(
            fails_on_missing=_FAIL_ON_MISSING.read(mine),
            ignores_errors=_IGNORE_ERRORS.read(mine),
            is_iso=_TIMESTAMPS.read(mine) == "ISO-8601",
            ignores_nulls=_IGNORE_NULLS.read(mine),
        )
