"""Properties of a table with their defaults and their meaning, printed from the rows of options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.options.secrets import HIDDEN, is_of_secret
from lakeward.options.table import TABLE_OPTIONS

_UNKNOWN = "Not a property that this console knows."


@dataclass(frozen=True, slots=True)
class PropertyRow:
    """One property: its value, its default, and what it is for."""

    key: str
    value: str
    default: str
    doc: str
    is_set: bool
    is_changeable: bool


def property_rows(properties: Mapping[str, str]) -> list[PropertyRow]:
    """Every property that a table may have; those that it has come first, with those that are of no known row."""
    unknown = [
        PropertyRow(key, _told_value(key, value), "", _UNKNOWN, is_set=True, is_changeable=False)
        for key, value in sorted(properties.items())
        if key not in TABLE_OPTIONS.rows
    ]
    known = [
        PropertyRow(
            option.key,
            _told_value(option.key, properties.get(option.key, "")),
            "" if option.default is None else option.show(option.default),
            option.doc,
            option.key in properties,
            option.dynamic,
        )
        for option in TABLE_OPTIONS
        if not option.inert
    ]
    return sorted([*known, *unknown], key=lambda row: (not row.is_set, row.key))


def changeable_keys() -> list[str]:
    """Properties that a table may be given while it is there."""
    return sorted(option.key for option in TABLE_OPTIONS if option.dynamic and not option.inert)


def _told_value(key: str, value: str) -> str:
    return HIDDEN if value and is_of_secret(key) else value
