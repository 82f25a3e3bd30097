"""CAST, intervals, UNNEST: rows of what `syntax` does, for the page."""

from __future__ import annotations

from lakeward.language.functions.shape.function import Function

CASTS = (
    Function(
        name="CAST",
        written="CAST(value AS type)",
        shown="`CAST(value AS type)`",
        differs="Fails where the value cannot be one. A BOOLEAN becomes TRUE or FALSE, in capitals; CHAR(n) and "
        "VARCHAR(n) cut and fill, TIMESTAMP(p) cuts. A TIMESTAMP(3) as text has no zeros at its end, a map is "
        "{a -> 1} and a row {1, a}, where Flink writes {a=1} and (1, a).",
    ),
    Function(
        name="TRY_CAST",
        written="TRY_CAST(value AS type)",
        shown="`TRY_CAST(value AS type)`",
        differs="NULL where the value cannot be one.",
    ),
    Function(
        name="TIMESTAMP literal",
        written="TIMESTAMP '2026-01-01 00:00:00'",
        shown="`CAST('2026-01-01 00:00:00' AS TIMESTAMP_NTZ)`",
        differs="Without a zone; Spark's own literal has the session's.",
    ),
    Function(
        name="INTERVAL",
        written="INTERVAL '1' WEEK",
        shown="`INTERVAL '7' DAY`",
        differs="Weeks are days, quarters are months; all others are Spark's.",
    ),
    Function(
        name="SIMILAR TO",
        written="text SIMILAR TO 'a%|b_'",
        shown="`text RLIKE '^(a.*|b.)$'`",
        differs="The pattern is a literal.",
    ),
    Function(
        name="UNNEST",
        written="CROSS JOIN UNNEST(array) AS t (a, b)",
        shown="`CROSS JOIN LATERAL explode(array) AS t (a)`, `inline` for more columns than one",
        differs="An element of a map is its key and its value. ORDINALITY is refused.",
    ),
    Function(
        name="text literal",
        written=r"'a\d'",
        shown=r"`'a\\d'`",
        differs="A backslash is a backslash, as in the guide's SQL; in Spark's it begins an escape.",
    ),
)
