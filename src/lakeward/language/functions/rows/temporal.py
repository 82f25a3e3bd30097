"""Times and dates."""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from lakeward.language.functions.rows.patterns import check_pattern, text_and_pattern
from lakeward.language.functions.rows.units import (
    rewrite_addition,
    rewrite_ceil,
    rewrite_difference,
    rewrite_extract,
    rewrite_floor,
)
from lakeward.language.functions.shape.form import by_type, form
from lakeward.language.functions.shape.function import Call, Function, same

_NOW: Final = "The time when the query, or a batch of a stream, began; Flink asks the clock for each row."
_LONG_MIN: Final = "-9223372036854775808"
_FROM_NUMBER: Final = {"0": "timestamp_seconds({0})", "3": "timestamp_millis(CAST({0} AS BIGINT))"}
_EITHER: Final = by_type(
    "{0}", {("string",): "try_to_timestamp(CAST({0} AS STRING))"}, "timestamp_millis(try_cast({0} AS BIGINT))"
)


def _rewrite_date_format(call: Call) -> exp.Expression:
    check_pattern(call, call.arguments[1])
    return form("date_format(try_cast({0} AS TIMESTAMP), {1})", call.arguments)


def _rewrite_local_time(call: Call) -> exp.Expression:
    """TO_TIMESTAMP: text to TIMESTAMP, NULL where it is none."""
    if len(call.arguments) == 1:
        return form("try_cast({0} AS TIMESTAMP_NTZ)", call.arguments)
    # The first finds out whether it is a time; the second has no zone in which an hour may be missing.
    parsed = "if(try_to_timestamp({0}, {1}) IS NULL, NULL, to_timestamp_ntz({0}, {1}))"
    return form(parsed, text_and_pattern(call))


def _rewrite_instant(call: Call) -> exp.Expression:
    """TO_TIMESTAMP_LTZ: of a number by its precision, of a text by a format."""
    if len(call.arguments) == 1:
        return form(_EITHER, call.arguments)
    second = call.arguments[1]
    if isinstance(second, exp.Literal) and not second.is_string:
        if second.name not in _FROM_NUMBER:
            raise call.refuse(f"The precision of {call.name} is 0, for seconds, or 3, for milliseconds.")
        return form(_FROM_NUMBER[second.name], call.arguments[:1])
    if len(call.arguments) == 3:
        raise call.refuse(f"{call.name} with a time zone is not known yet: write the zone into the text, pattern X.")
    return form("try_to_timestamp({0}, {1})", text_and_pattern(call))


def _rewrite_seconds(call: Call) -> exp.Expression:
    """UNIX_TIMESTAMP: a text that is no time gives the least BIGINT."""
    if not call.arguments:
        return form("unix_timestamp()")
    if len(call.arguments) == 1:
        parsed, arguments = "try_cast({0} AS TIMESTAMP)", call.arguments
    else:
        parsed, arguments = "try_to_timestamp({0}, {1})", text_and_pattern(call)
    return form(f"coalesce(unix_seconds({parsed}), if({{0}} IS NULL, NULL, {_LONG_MIN}L))", arguments)


def _rewrite_date(call: Call) -> exp.Expression:
    """TO_DATE: text to DATE, NULL where it is none."""
    if len(call.arguments) == 1:
        return form("try_cast({0} AS DATE)", call.arguments)
    return form("try_to_date({0}, {1})", text_and_pattern(call))


def _rewrite_spark_unit(call: Call) -> exp.Expression:
    """DATEDIFF(DAY, a, b): the unit is a word, no column."""
    if len(call.arguments) == 2:
        return call.node
    unit = call.arguments[0].name
    return form(f"{call.name.lower()}({unit}, {{0}}, {{1}})", call.arguments[1:])


def _of_unit(name: str, plain: str) -> Function:
    lists = (plain, "unit, start, end" if "DIFF" in name else "unit, count, time")
    forms = {arguments: f"{name.lower()}({arguments})" for arguments in lists}
    return Function(name=name, forms=forms, rewrite=_rewrite_spark_unit, differs="Spark's own.")


def _now(name: str, spark: str, differs: str = _NOW) -> Function:
    return Function(name=name, forms={"": spark}, is_deterministic=False, differs=differs)


TEMPORAL = (
    _now("CURRENT_TIMESTAMP", "current_timestamp()"),
    _now("NOW", "current_timestamp()"),
    _now("PROCTIME", "current_timestamp()"),
    _now("CURRENT_ROW_TIMESTAMP", "current_timestamp()"),
    _now("LOCALTIMESTAMP", "localtimestamp()"),
    _now("CURRENT_DATE", "current_date()"),
    _now("CURRENT_TIME", "current_time(0)"),
    _now("LOCALTIME", "current_time(0)"),
    Function(
        name="DATE_FORMAT",
        forms={"time, pattern": "date_format({time}, {pattern})"},
        rewrite=_rewrite_date_format,
        differs="Patterns are Java's; the letters Y, w, W, u, e and c are refused. NULL for a text that is no time. "
        "In a zone with summer time the hour that is skipped is shown as the next one.",
    ),
    Function(
        name="TIMESTAMPDIFF",
        forms={"unit, start, end": "(({end} - {start}) DIV INTERVAL '1' unit)"},
        rewrite=rewrite_difference,
        differs="Whole units from start to end, cut towards 0; months and longer by timestampdiff.",
    ),
    Function(
        name="TIMESTAMPADD",
        forms={"unit, count, time": "({time} + {count} * INTERVAL '1' unit)"},
        rewrite=rewrite_addition,
    ),
    Function(
        name="TO_TIMESTAMP",
        forms={
            "text": "try_cast({text} AS TIMESTAMP_NTZ)",
            "text, pattern": "if(try_to_timestamp({text}, {pattern}) IS NULL, NULL, "
            "to_timestamp_ntz({text}, {pattern}))",
        },
        rewrite=_rewrite_local_time,
        differs="A TIMESTAMP without a zone, NULL where the text is none; Spark's own has a zone, and fails.",
    ),
    Function(
        name="TO_TIMESTAMP_LTZ",
        forms={
            "value": "timestamp_millis({value})",
            "value, precision": "timestamp_seconds({value}) or timestamp_millis({value})",
        },
        rewrite=_rewrite_instant,
        differs="Of a number: seconds (precision 0) or milliseconds (3). Of a text: by a pattern in place of the "
        "precision, NULL where it is none.",
    ),
    Function(
        name="TO_DATE",
        forms={"text": "try_cast({text} AS DATE)", "text, pattern": "try_to_date({text}, {pattern})"},
        rewrite=_rewrite_date,
        differs="NULL where the text is none; Spark's own fails.",
    ),
    same("FROM_UNIXTIME", "seconds", "seconds, pattern", differs="In the session's time zone."),
    Function(
        name="UNIX_TIMESTAMP",
        forms={
            "": "unix_timestamp()",
            "text": "unix_seconds(try_cast({text} AS TIMESTAMP))",
            "text, pattern": "unix_seconds(try_to_timestamp({text}, {pattern}))",
        },
        rewrite=_rewrite_seconds,
        is_deterministic=False,
        differs=f"{_LONG_MIN} where the text is no time, as in the guide's SQL.",
    ),
    Function(
        name="EXTRACT",
        written="EXTRACT(unit FROM time)",
        forms={"unit, time": "extract(unit FROM {time})"},
        rewrite=rewrite_extract,
        differs="DOW is 1 for Sunday, WEEK is that of ISO 8601; SECOND, MILLISECOND and MICROSECOND are whole numbers, "
        "the latter two within their second.",
    ),
    *(
        same(name, "time")
        for name in ("YEAR", "QUARTER", "MONTH", "DAYOFYEAR", "DAYOFMONTH", "HOUR", "MINUTE", "SECOND")
    ),
    Function(name="WEEK", forms={"time": "weekofyear({time})"}, differs="The week of ISO 8601."),
    same("DAYOFWEEK", "time", differs="1 is Sunday."),
    Function(
        name="FLOOR TO",
        written="FLOOR(time TO unit)",
        forms={"time, unit": "date_trunc('unit', {time})"},
        rewrite=rewrite_floor,
        differs="In the type of the time; a week begins with Sunday.",
    ),
    Function(
        name="CEIL TO",
        written="CEIL(time TO unit)",
        forms={"time, unit": "if(date_trunc('unit', {time}) = {time}, {time}, date_trunc('unit', {time}) + 1 unit)"},
        rewrite=rewrite_ceil,
        differs="In the type of the time; a week begins with Sunday.",
    ),
    Function(
        name="CONVERT_TZ",
        forms={
            "text, from, to": "date_format(convert_timezone({from}, {to}, try_cast({text} AS TIMESTAMP_NTZ)), "
            "'yyyy-MM-dd HH:mm:ss')"
        },
    ),
    *(_of_unit(name, "end, start") for name in ("DATEDIFF", "DATE_DIFF")),
    *(_of_unit(name, "date, days") for name in ("DATE_ADD", "DATEADD")),
    Function(
        name="CURRENT_WATERMARK",
        forms={"time": ""},
        refusal="the watermark of a stream is not a value there; late rows are counted and shown by lakeward jobs",
    ),
)
