"""Rows of the format `csv`, by the names that other systems have for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lakeward.options.kinds import TEXT, Kind
from lakeward.options.option import OptionTable, Scope

_ESCAPES = {"\\t": "\t", "\\n": "\n", "\\r": "\r", "\\\\": "\\"}


def _parse_character(text: str) -> str:
    found = _ESCAPES.get(text, text)
    if len(found) != 1 or ord(found) > 127:
        raise ValueError(f"'{text}' is not one character of ASCII")
    return found


CHARACTER = Kind("character", _parse_character)
CSV_OPTIONS = OptionTable(Scope.CONNECTOR)
_optional, _row, _switch = CSV_OPTIONS.optional, CSV_OPTIONS.row, CSV_OPTIONS.switch

_DELIMITER = _row("csv.field-delimiter", CHARACTER, ",", "What stands between two fields; `\\t` is a tab.")
_QUOTE = _row("csv.quote-character", CHARACTER, '"', "What stands around a field that has the delimiter in it.")
_NO_QUOTE = _switch("csv.disable-quote-character", "Whether there are no quotes.")
_ESCAPE = _optional("csv.escape-character", CHARACTER, "What stands before a character that is meant as it is.")
_NULL = _optional("csv.null-literal", TEXT, "What NULL is written as; without it, as nothing.")
_ARRAY_DELIMITER = _row("csv.array-element-delimiter", CHARACTER, ";", "What stands between two elements of an ARRAY.")
_IGNORE_ERRORS = _switch(
    "csv.ignore-parse-errors", "Whether a field that does not fit its column is NULL, and a bad line left out."
)
_COMMENTS = _switch("csv.allow-comments", "Whether lines that begin with # are no rows.")
CSV_OPTIONS.inert("csv.write-bigdecimal-in-scientific-notation")


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvSettings:
    """What the options say."""

    delimiter: str
    quote: str | None
    escape: str | None
    null: str | None
    array_delimiter: str
    ignores_errors: bool
    allows_comments: bool

    @classmethod
    def of(cls, options: Mapping[str, str]) -> CsvSettings:
        """Read them."""
        return cls(
            delimiter=_DELIMITER.read(options),
            quote=None if _NO_QUOTE.read(options) else _QUOTE.read(options),
            escape=_ESCAPE.read(options),
            null=_NULL.read(options),
            array_delimiter=_ARRAY_DELIMITER.read(options),
            ignores_errors=_IGNORE_ERRORS.read(options),
            allows_comments=_COMMENTS.read(options),
        )
