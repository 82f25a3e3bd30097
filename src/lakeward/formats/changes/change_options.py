"""Rows of the formats `debezium-json` and `canal-json`, by the names that other systems have for them."""

from __future__ import annotations

from lakeward.options.kinds import TEXT, choice
from lakeward.options.option import OptionTable, Scope

CHANGE_OPTIONS = OptionTable(Scope.CONNECTOR)
_optional, _row, _switch, _inert = (
    CHANGE_OPTIONS.optional,
    CHANGE_OPTIONS.row,
    CHANGE_OPTIONS.switch,
    CHANGE_OPTIONS.inert,
)

for _name in ("debezium-json", "canal-json"):
    _switch(f"{_name}.ignore-parse-errors", "As `json.ignore-parse-errors`.")
    _switch(f"{_name}.encode.ignore-null-fields", "As `json.encode.ignore-null-fields`.")
    _row(f"{_name}.timestamp-format.standard", choice("SQL", "ISO-8601"), "SQL", "As for `json`.")
    for _key in ("encode.decimal-as-plain-number", "map-null-key.mode", "map-null-key.literal"):
        _inert(f"{_name}.{_key}")
_inert("debezium-json.schema-include")  # a message says itself whether its schema is in it
DATABASE_INCLUDE = _optional("canal-json.database.include", TEXT, "A regular expression: only of these databases.")
TABLE_INCLUDE = _optional("canal-json.table.include", TEXT, "A regular expression: only of these tables.")
