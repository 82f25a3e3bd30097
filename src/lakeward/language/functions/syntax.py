"""Syntax of its own: EXTRACT(… FROM …), CAST, a / b, a[1], INTERVAL, UNNEST: which row each is, or what it becomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from sqlglot import exp

from lakeward.language.functions.rows.json_reading import is_json, rewrite_value
from lakeward.language.functions.rows.json_writing import write_object, write_object_of_rows
from lakeward.language.functions.shape.form import WHOLE_NUMBERS, SparkForm, by_type, form, is_of, number_of
from lakeward.language.functions.shape.function import Call
from lakeward.language.functions.shape.types import is_padded, is_string, length_of, number_in, places_cut, spark_type

#: The name of a row and its arguments, or the translated node itself.
Meaning = tuple[str, list[exp.Expression]] | exp.Expression
_TEXT: Final = "CAST({0} AS STRING)"
_UPPER_BOOLEAN: Final = f"if({is_of('{0}', ['boolean'])}, upper({_TEXT}), {_TEXT})"
#: The type of a collection, as a row says which of two values is meant; both have to be right for any type.
_EITHER: Final = (
    "named_struct(if(typeof({{0}}) LIKE '{0}', 'it', 'no'), {1}, if(typeof({{0}}) LIKE '{0}', 'no', 'it'), {2}).it"
)
_MAP: Final = _EITHER.format("map<%", "{0}", "map()")
_LIST: Final = _EITHER.format("map<%", "array()", "{0}")
#: An array of rows: those of a map are its keys and values.
_ENTRIES: Final = _EITHER.format("map<%", f"map_entries({_MAP})", "{0}")
#: The same, whatever the elements are.
_ROWS: Final = _EITHER.format(
    "map<%",
    f"map_entries({_MAP})",
    _EITHER.format("array<struct<%", "{0}", f"transform({_LIST}, item -> struct(item))"),
)
#: Units that Spark's intervals do not have.
_LONGER: Final = {"WEEK": (7, "DAY"), "QUARTER": (3, "MONTH")}


def _binary(name: str) -> Callable[[exp.Expression], Meaning]:
    return lambda node: (name, [node.this, node.expression])


def _of_name(name: str) -> Callable[[exp.Expression], Meaning]:
    return lambda _: (name, [])


def _present(*nodes: exp.Expression | None) -> list[exp.Expression]:
    return [node for node in nodes if node is not None]


def _cast(node: exp.Expression) -> Meaning:
    """CAST to a text writes TRUE and FALSE in capitals, and keeps the length of CHAR(n) and VARCHAR(n)."""
    # Spark's parser of sqlglot reads both as TryCast.
    word = "TRY_CAST" if node.args.get("safe") else "CAST"
    to = node.args["to"]
    if isinstance(node.this, exp.Literal) and node.this.is_string and to.this == exp.DType.TIME:
        return form("TIME {0}", [node.this])
    if not is_string(to):
        text = f"{word}({{0}} AS {spark_type(to)})"
        places = places_cut(to)
        if places is not None:
            # Without date_trunc, which takes a TIMESTAMP for one of the session's zone.
            rest = f"extract(SECOND FROM {text}) % {1 / 10**places:.{places}f}"
            text = f"({text} - make_dt_interval(0, 0, 0, {rest}))"
        return form(text, [node.this], gives=number_in(to))
    # With TRY_CAST, too: everything can be a text.
    is_known = isinstance(node.this, exp.Literal) or number_of(node.this) is not None
    text = _TEXT if is_known else _UPPER_BOOLEAN
    length = length_of(to)
    if length is not None:
        text = f"rpad({text}, {length}, ' ')" if is_padded(to) else f"left({text}, {length})"
    return form(text, [node.this])


def _trim(node: exp.Expression) -> Meaning:
    characters = node.args.get("expression")
    where = str(node.args.get("position") or "BOTH").upper()
    if characters is None and where == "BOTH":
        return "TRIM", [node.this]
    return f"TRIM {where}", [characters or exp.Literal.string(" "), node.this]


def _rounding(name: str) -> Callable[[exp.Expression], Meaning]:
    """CEIL and FLOOR: of a number, or of a time TO a unit."""

    def meaning(node: exp.Expression) -> Meaning:
        unit = node.args.get("to")
        return (f"{name} TO", [node.this, unit]) if unit is not None else (name, [node.this])

    return meaning


def _bracket(node: exp.Expression) -> Meaning:
    """MAP[k, v] makes a map; a[1] takes an element."""
    inside = node.this
    if isinstance(inside, exp.Column) and not inside.table and inside.name.upper() == "MAP" and not inside.this.quoted:
        return "MAP", list(node.expressions)
    if len(node.expressions) != 1:
        return node
    return "[]", [inside, node.expressions[0]]


def _interval(node: exp.Expression) -> Meaning:
    """Units in the singular, without a precision; weeks are days, quarters are months, which Spark has not."""
    unit, value = node.args.get("unit"), node.this
    if unit is None or isinstance(unit, exp.IntervalSpan) or not isinstance(value, exp.Literal):
        return node
    # DAY(3) looks like a call.
    name = str(unit.this).partition("(")[0].upper().removesuffix("S")
    length, base = _LONGER.get(name, (1, name))
    number = value.name if length == 1 else str(int(value.name) * length)
    return exp.Interval(this=exp.Literal.string(number), unit=exp.Var(this=base))


def _product(node: exp.Expression) -> Meaning:
    """Whole days stay days: n * INTERVAL '1' DAY is INTERVAL DAY TO SECOND in Spark, and makes a time of a date."""
    number, days = node.this, node.expression
    if isinstance(number, exp.Interval):
        number, days = days, number
    unit = days.args.get("unit") if isinstance(days, exp.Interval) else None
    if not isinstance(unit, exp.Var) or unit.name != "DAY":
        return node
    cases: dict[tuple[str, ...], str] = {WHOLE_NUMBERS: "CAST({0} * {1} AS INTERVAL DAY)"}
    return form(by_type("{0}", cases, "({0} * {1})"), [number, days])


def _similar(node: exp.Expression) -> Meaning:
    """SIMILAR TO by a regular expression of Java's: % is any text, _ any character, all else but . is the same."""
    pattern = node.expression
    if not isinstance(pattern, exp.Literal):
        raise Call("SIMILAR TO", [], node).refuse("The pattern of SIMILAR TO is a text: use REGEXP(text, regex).")
    regex = "".join({"%": ".*", "_": ".", ".": r"\.", "^": r"\^", "$": r"\$"}.get(sign, sign) for sign in pattern.name)
    return form("({0} RLIKE {1})", [node.this, exp.Literal.string(f"^(?s:{regex})$")])


def _overlaps(node: exp.Expression) -> Meaning:
    sentence = "OVERLAPS is not known to Spark: write start1 <= end2 AND start2 <= end1."
    raise Call("OVERLAPS", [], node).refuse(sentence)


def _unnest(node: exp.Expression) -> Meaning:
    """UNNEST(array) AS t (a, b): a row for each element; a row gives its fields, an entry of a map key and value."""
    alias = node.args.get("alias")
    call = Call("UNNEST", list(node.expressions), node)
    if node.args.get("offset") or len(call.arguments) != 1:
        raise call.refuse("UNNEST takes one array, without ORDINALITY: use LATERAL VIEW posexplode(array) of Spark's.")
    count = len(alias.columns) if alias is not None else 0
    outer = "_outer" if _keeps_rows(node.parent) else ""
    verb = f"explode{outer}" if count == 1 else f"inline{outer}"
    text = f"{verb}({{0}})" if count == 1 else f"{verb}({_ENTRIES if count else _ROWS})"
    lateral = "LATERAL " if isinstance(node.parent, exp.Join) else ""
    if alias is None:
        return form(f"{lateral}{text}", call.arguments)
    return form(f"{lateral}{text} AS {{1}}", [*call.arguments, alias])


def _keeps_rows(join: exp.Expr | None) -> bool:
    """LEFT JOIN UNNEST … ON TRUE: a row without elements stays, with NULL."""
    return isinstance(join, exp.Join) and join.side == "LEFT" and _is_on_true(join)


def _is_on_true(join: exp.Join) -> bool:
    condition = join.args.get("on")
    return condition is None or (isinstance(condition, exp.Boolean) and bool(condition.this))


def _join(node: exp.Expression) -> Meaning:
    """UNNEST … ON TRUE: a condition makes Spark join where it could just go through the elements."""
    assert isinstance(node, exp.Join)
    is_lateral = isinstance(node.this, SparkForm) and node.this.this.startswith("LATERAL")
    if is_lateral and _is_on_true(node):
        node.set("on", None)
    return node


def _is(node: exp.Expression) -> Meaning:
    """x IS JSON; every other IS is Spark's."""
    what = node.expression
    return is_json(node.this, str(what.args.get("this") or "").upper()) if isinstance(what, exp.JSON) else node


def _json_value(node: exp.Expression) -> Meaning:
    """JSON_VALUE with its clauses."""
    call = Call("JSON_VALUE", [node.this, node.args["path"]], node)
    said = node.args.get("on_condition")
    empty, error = (_otherwise(call, said.args.get(name)) if said else None for name in ("empty", "error"))
    return rewrite_value(call, node.args.get("returning") or None, empty, error)


def _otherwise(call: Call, said: exp.Expression | str | None) -> exp.Expression | None:
    """What ON EMPTY or ON ERROR gives: sqlglot has NULL and ERROR as texts, and a default as a tree."""
    if isinstance(said, exp.Expression):
        return said
    if said is not None and said.upper().startswith("ERROR"):
        return form(f"raise_error('{call.name}: {said}')")
    return None


def _json_object(node: exp.Expression) -> Meaning:
    """JSON_OBJECT and JSON_OBJECTAGG with KEY and VALUE."""
    pairs = [(pair.this, pair.expression) for pair in node.expressions if isinstance(pair, exp.JSONKeyValue)]
    keeps_nulls = not str(node.args.get("null_handling") or "").upper().startswith("ABSENT")
    if isinstance(node, exp.JSONObjectAgg):
        return write_object_of_rows(pairs[0], keeps_nulls=keeps_nulls)
    return write_object(pairs, keeps_nulls=keeps_nulls)


SYNTAX: Final[dict[type[exp.Expression], Callable[[exp.Expression], Meaning]]] = {
    exp.Div: _binary("/"),
    exp.Mod: _binary("MOD"),
    exp.Mul: _product,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Extract: lambda node: ("EXTRACT", [node.this, node.expression]),
    exp.Trim: _trim,
    exp.StrPosition: lambda node: ("POSITION", [node.args["substr"], node.this]),
    exp.Substring: lambda node: ("SUBSTRING", _present(node.this, node.args.get("start"), node.args.get("length"))),
    exp.Overlay: lambda node: (
        "OVERLAY",
        _present(node.this, node.expression, node.args.get("from_"), node.args.get("for_")),
    ),
    exp.Floor: _rounding("FLOOR"),
    exp.Ceil: _rounding("CEIL"),
    exp.Array: lambda node: ("ARRAY", list(node.expressions)),
    exp.Bracket: _bracket,
    exp.Interval: _interval,
    exp.Unnest: _unnest,
    exp.Join: _join,
    exp.Is: _is,
    exp.SimilarTo: _similar,
    exp.Overlaps: _overlaps,
    exp.JSONValue: _json_value,
    exp.JSONObject: _json_object,
    exp.JSONObjectAgg: _json_object,
    exp.CurrentTimestamp: _of_name("CURRENT_TIMESTAMP"),
    exp.CurrentDate: _of_name("CURRENT_DATE"),
    exp.CurrentTime: _of_name("CURRENT_TIME"),
    exp.Localtime: _of_name("LOCALTIME"),
    exp.Localtimestamp: _of_name("LOCALTIMESTAMP"),
}
