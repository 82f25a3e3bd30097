"""Rows of the connector `datagen`, by the names that other systems have for them."""

from __future__ import annotations

from lakeward.options.kinds import BOOL, DURATION, INT64_MAX, LONG, RATIO, TEXT, choice, integer
from lakeward.options.option import OptionTable, Scope

DATAGEN_OPTIONS = OptionTable(Scope.CONNECTOR)
FIELDS_PREFIX = "fields."

ROWS_PER_SECOND = DATAGEN_OPTIONS.row(
    "rows-per-second", integer(low=1, high=INT64_MAX), 10_000, "How many rows a stream gets each second."
)
NUMBER_OF_ROWS = DATAGEN_OPTIONS.optional(
    "number-of-rows",
    integer(low=0, high=INT64_MAX),
    "How many rows there are in all; without it, and without a sequence, they never end.",
)
SEED = DATAGEN_OPTIONS.optional(
    "seed", LONG, "What the values are made from: the same seed makes the same rows; without it, the table's name."
)
DATAGEN_OPTIONS.inert("scan.parallelism")
DATAGEN_OPTIONS.open_prefix(
    FIELDS_PREFIX,
    "What a column holds; a field in a ROW is `fields.r.f.…`, what an ARRAY has"
    " `fields.a.element.…`, a MAP `fields.m.key.…` and `fields.m.value.…`.",
)

#: `fields.X.…`: the rows of one column, without the beginning of the name.
FIELD_OPTIONS = OptionTable(Scope.CONNECTOR)
KIND = FIELD_OPTIONS.row(
    "kind", choice("random", "sequence"), "random", "Values that look random, or one number after another."
)
MIN = FIELD_OPTIONS.optional("min", TEXT, "The least random number; that of the type without it.")
MAX = FIELD_OPTIONS.optional("max", TEXT, "The largest random number; that of the type without it.")
MAX_PAST = FIELD_OPTIONS.row(
    "max-past", DURATION, 0, "How far random times may lie before the time at which their row was due."
)
LENGTH = FIELD_OPTIONS.optional(
    "length",
    integer(low=1),
    "Characters or bytes of a value, 100 without it; elements of an ARRAY or MAP, 3 without it.",
)
VAR_LEN = FIELD_OPTIONS.row("var-len", BOOL, default=False, doc="Whether lengths vary, from 1 to `length`.")
NULL_RATE = FIELD_OPTIONS.row("null-rate", RATIO, 0.0, "The share of values that are NULL.")
START = FIELD_OPTIONS.optional("start", LONG, "Where a sequence begins.")
END = FIELD_OPTIONS.optional("end", LONG, "Where a sequence ends, and the table with it.")
