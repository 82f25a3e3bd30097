"""Bounded queries: Spark's own, but for names, windows and lookups."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from lakeward.language.grammar.nodes import WindowTable
from lakeward.language.place import ScriptError
from lakeward.language.plan.ctes import is_cte
from lakeward.language.plan.shape.trees import column, name_as, place_of, put_under
from lakeward.language.plan.shape.window import (
    CUMULATE,
    SESSION,
    TUMBLE,
    WINDOW_COLUMNS,
    Window,
    cumulate,
    group_window,
    local_time,
    make_window,
    window_of_call,
    window_part,
)

#: A table of the script as a tree that can stand in FROM.
Read = Callable[[exp.Table], exp.Expr]


def rewrite_bounded(query: exp.Query, read: Read) -> exp.Query:
    """The query over what `read` gives for each table, with windows as Spark has them."""
    tree: exp.Query = query.copy()
    for select in list(tree.find_all(exp.Select)):
        _rewrite_windows(select)
    tree = exp.select("*").from_(tree) if isinstance(tree, exp.Table) else tree
    for node in [node for node in tree.find_all(exp.Table) if not is_cte(node)]:
        replacement = put_under(read(node), node.alias_or_name)
        if node.args.get("alias") is not None and node.args["alias"].columns:
            replacement.args["alias"].set("columns", [one.copy() for one in node.args["alias"].columns])
        for key in ("pivots", "sample", "laterals"):
            if node.args.get(key):
                replacement.set(key, node.args[key])
        node.replace(replacement)
    return tree


def named_columns(query: exp.Query, names: tuple[str, ...]) -> exp.Query:
    """The query with other names for its columns."""
    if not names:
        return query
    alias = exp.TableAlias(
        this=exp.to_identifier("rows", quoted=True), columns=[exp.to_identifier(name, quoted=True) for name in names]
    )
    return exp.select("*").from_(exp.Subquery(this=query, alias=alias))


def _rewrite_windows(select: exp.Select) -> None:
    source = select.args.get("from_")
    windows: list[Window] = []
    for node in [source.this, *(join.this for join in select.args.get("joins") or ())] if source else []:
        if not isinstance(node, WindowTable):
            continue
        alias = node.alias or node.this.alias_or_name or "windowed"
        time = column(node.args["time"].name)
        group = select.args.get("group")
        if node.kind == SESSION:
            if group is None:
                raise ScriptError(place_of(node), "a SESSION window needs a GROUP BY window_start, window_end.")
            window = make_window(SESSION, column(time.name, alias), tuple(node.args["intervals"]), None, None)
            _use_window(select, window, alias)
            node.replace(put_under(node.this, alias))
        else:
            node.replace(put_under(windowed_rows(node, time), alias))
    group = select.args.get("group")
    for key in list(group.expressions) if group else []:
        if kind := group_window(key):
            windows.append(window_of_call(key, kind, None, None))
            key.replace(windows[-1].spark())
    for node in list(select.find_all(exp.Anonymous)):
        if (part := window_part(node)) and node.find_ancestor(exp.Select) is select:
            window = window_of_call(node, part[0], None, None)
            value = window.field(part[1])
            is_shown = node.parent is select and node.arg_key == "expressions"
            # A field would give its own name.
            node.replace(name_as(value, f"EXPR${node.index}") if is_shown else value)


def windowed_rows(node: WindowTable, time: exp.Expr) -> exp.Query:
    """Every row with its window columns; rows in several windows come once for each."""
    intervals = tuple(node.args["intervals"])
    inner = exp.select("*").from_(node.this.copy())
    if node.kind == CUMULATE:
        step, size, *offset = intervals
        whole = make_window(TUMBLE, time, (size, *offset), None, None)
        rows = put_under(inner.select(name_as(whole.spark(), "__window")), "rows")
        shown = exp.Star(except_=[column("__window")])
        each = exp.select(shown, cumulate(column("__window"), local_time(time), step)).from_(rows)
        last = exp.Sub(this=column("window_end"), expression=_millisecond())
        return exp.select("*", name_as(last, "window_time")).from_(put_under(each, "rows"))
    window = make_window(node.kind, time, intervals, None, None)
    rows = inner.select(name_as(window.spark(), "__window"))
    start = exp.Dot(this=column("__window"), expression=exp.to_identifier("start"))
    end = exp.Dot(this=column("__window"), expression=exp.to_identifier("end"))
    last = exp.Sub(this=end.copy(), expression=_millisecond())
    star = exp.Star(except_=[column("__window")])
    return exp.select(
        star, name_as(start, "window_start"), name_as(end, "window_end"), name_as(last, "window_time")
    ).from_(put_under(rows, "rows"))


def _millisecond() -> exp.Expr:
    return exp.Interval(this=exp.Literal.string("0.001"), unit=exp.var("SECOND"))


def _use_window(select: exp.Select, window: Window, alias: str) -> None:
    """Window columns of a SELECT that groups by them become parts of the window that is grouped by."""
    group = select.args["group"]
    keys = [key for key in group.expressions if not _is_window_column(key, alias)]
    group.set("expressions", [*keys, window.spark()])
    for node in list(select.find_all(exp.Column)):
        if _is_window_column(node, alias):
            value = window.field(node.name.lower())
            is_shown = isinstance(node.parent, exp.Select)
            node.replace(name_as(value, node.name) if is_shown else value)


def _is_window_column(node: exp.Expr, alias: str) -> bool:
    return (
        isinstance(node, exp.Column)
        and node.name.lower() in WINDOW_COLUMNS
        and node.table.lower() in {"", alias.lower()}
    )
