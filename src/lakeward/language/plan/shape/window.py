"""Window: a stretch of event time that rows are counted in, and how Spark says it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlglot import exp

from lakeward.language.functions.shape.form import form
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.relation import TIME, EventTime
from lakeward.language.plan.shape.trees import column, place_of, spark_call, text

TUMBLE, HOP, SESSION, CUMULATE = "TUMBLE", "HOP", "SESSION", "CUMULATE"
#: The columns that a window table function adds.
WINDOW_COLUMNS: Final = ("window_start", "window_end", "window_time")
_FIELDS = {"window_start": "start", "window_end": "end", "window_time": "end"}
_GROUP_KINDS = (TUMBLE, HOP, SESSION)
_INTERVALS = {TUMBLE: ("size", "offset"), HOP: ("slide", "size", "offset"), SESSION: ("gap",)}
_PARTS = {"START": "window_start", "END": "window_end", "ROWTIME": "window_time", "PROCTIME": "window_time"}
_EPOCH = "1970-01-01 00:00:00"


@dataclass(frozen=True)
class Window:
    """One window over one time column; `alias` names the relation it is of."""

    kind: str
    time: exp.Expr
    intervals: tuple[exp.Expr, ...]
    is_ntz_twin: bool = False
    is_local: bool = False
    """Whether it begins by the clock of the session's zone: of a TIMESTAMP_LTZ Spark would cut it in UTC."""
    column: exp.Expr | None = None
    """Where rows have it already."""

    def spark(self) -> exp.Expr:
        """The window as an expression to group by: a struct of start and end."""
        if self.column is not None:
            return self.column.copy()
        texts = [text(interval_text(interval)) for interval in self.intervals]
        time = local_time(self.time) if self.is_local else self.time.copy()
        if self.kind == SESSION:
            return spark_call("session_window", time, *texts)
        if self.kind == HOP:
            slide, size, *offset = texts
            return spark_call("window", time, size, slide, *offset)
        size, *offset = texts
        return spark_call("window", time, size, *([size.copy(), *offset] if offset else []))

    def field(self, name: str) -> exp.Expr:
        """One of WINDOW_COLUMNS of this window, in the type of the time column; a local one is a TIMESTAMP."""
        value: exp.Expr = exp.Dot(this=self.spark(), expression=exp.to_identifier(_FIELDS[name], quoted=True))
        if self.is_ntz_twin:
            epoch = exp.Cast(this=text(_EPOCH), to=exp.DataType.build("TIMESTAMP"))
            value = spark_call("timestampadd", exp.var("MICROSECOND"), spark_call("unix_micros", value), epoch)
        if name == "window_time":
            last = exp.Interval(this=text("0.001"), unit=exp.var("SECOND"))
            value = exp.Paren(this=exp.Sub(this=value, expression=last))
        return value

    def same_as(self, other: Window) -> bool:
        """Whether both are the same stretches of the same time."""
        return self.spark() == other.spark()


def local_time(time: exp.Expr) -> exp.Expr:
    """A time without its zone, as the session's zone shows it."""
    return form("CAST({0} AS TIMESTAMP_NTZ)", [time.copy()])


def interval_text(interval: exp.Expr) -> str:
    """An interval as Spark's functions take it: `5 minutes`."""
    if isinstance(interval, exp.Interval) and isinstance(interval.this, exp.Literal) and interval.unit is not None:
        unit = interval.unit.name.lower().rstrip("s")
        if unit in {"day", "hour", "minute", "second", "week", "millisecond"}:
            return f"{interval.this.name.strip()} {unit}"
        raise ScriptError(
            place_of(interval),
            f"a window cannot be measured in {unit.upper()}: say it in days, hours, minutes or seconds.",
        )
    raise ScriptError(place_of(interval), "expected an interval such as INTERVAL '5' MINUTE.")


def group_window(node: exp.Expr) -> str | None:
    """TUMBLE, HOP or SESSION when a call in GROUP BY is that window."""
    if isinstance(node, exp.Anonymous) and str(node.this).upper() in _GROUP_KINDS:
        return str(node.this).upper()
    return None


def window_part(node: exp.Expr) -> tuple[str, str] | None:
    """The window and the column that a call such as TUMBLE_START(…) asks for."""
    if not isinstance(node, exp.Anonymous):
        return None
    kind, _, part = str(node.this).upper().partition("_")
    return (kind, _PARTS[part]) if kind in _GROUP_KINDS and part in _PARTS else None


def window_of_call(node: exp.Anonymous, kind: str, time: EventTime | None, alias: str | None) -> Window:
    """The window of TUMBLE(time, size), HOP(time, slide, size) or SESSION(time, gap)."""
    if len(node.expressions) < 1 + len(_INTERVALS[kind]) - (kind != SESSION):
        wanted = ", ".join(["time", *_INTERVALS[kind][: 1 if kind == TUMBLE else 2]])
        raise ScriptError(place_of(node), f"{kind} takes ({wanted}), such as {kind}(ts, INTERVAL '1' MINUTE).")
    when, *intervals = node.expressions
    return make_window(kind, when, tuple(intervals), time, alias)


def make_window(
    kind: str, when: exp.Expr, intervals: tuple[exp.Expr, ...], time: EventTime | None, alias: str | None
) -> Window:
    """A window over a column; where that has a watermark, over its twin that Spark knows it by."""
    is_event_time = isinstance(when, exp.Column) and time is not None and when.name.lower() == time.column.lower()
    if is_event_time:
        assert time is not None
        if not time.is_ntz and kind != SESSION:
            _check_zone(kind, intervals, time.zone)
        return Window(kind, column(TIME, alias), intervals, time.is_ntz)
    # The gap of a session is as long as it is, whatever the clock on the wall does meanwhile.
    return Window(kind, when, intervals, is_local=kind != SESSION)


_SECONDS: Final = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1, "millisecond": 0.001}


def _check_zone(kind: str, intervals: tuple[exp.Expr, ...], zone: str) -> None:
    """Spark cuts windows at midnight in UTC: refused where that is no cut in the zone of the session."""
    count, unit = interval_text(intervals[0]).split()
    step = float(count) * _SECONDS[unit]
    try:
        offsets = [datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in (1, 7)]
    except (ZoneInfoNotFoundError, ValueError):  # such as +02:00
        offsets = [datetime.fromisoformat(f"2026-01-01T00:00:00{zone}").utcoffset()] if zone[:1] in "+-" else []
    if any(offset is not None and offset.total_seconds() % step for offset in offsets):
        raise ScriptError(
            place_of(intervals[0]),
            f"{kind} by {count} {unit.upper()} of a TIMESTAMP_LTZ is cut in UTC by Spark, which is not where such a "
            f"window begins in {zone}: use a column of TIMESTAMP with the local time, or "
            "SET 'table.local-time-zone' = 'UTC'.",
        )


def cumulate(window: exp.Expr, when: exp.Expr, step: exp.Expr) -> exp.Expr:
    """All windows of CUMULATE that hold a time, of the whole `window` that it is in; for bounded rows."""
    end = exp.to_identifier("e")
    by = exp.Interval(this=text(interval_text(step)))
    start = exp.Dot(this=window.copy(), expression=exp.to_identifier("start"))
    last = exp.Dot(this=window.copy(), expression=exp.to_identifier("end"))
    ends = spark_call("sequence", exp.Add(this=start.copy(), expression=by), last, by.copy())
    later = exp.Lambda(this=exp.GT(this=end.copy(), expression=when.copy()), expressions=[end.copy()])
    made = spark_call("named_struct", text("window_start"), start, text("window_end"), end.copy())
    each = exp.Lambda(this=made, expressions=[end.copy()])
    return spark_call("inline", spark_call("transform", spark_call("filter", ends, later), each))
