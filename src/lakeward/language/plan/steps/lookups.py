"""Lookup joins: rows of a primary key table, found by key as they are now, for every row of a stream."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.changes import CHANGE_TYPE, Changes
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.block import ROWS, Block, Place
from lakeward.language.plan.shape.engine import LookupStep, Planning
from lakeward.language.plan.shape.relation import TIME, Lookup
from lakeward.language.plan.shape.scope import Item, Scope, resolve
from lakeward.language.plan.shape.trees import all_of, column, conjuncts, name_as, place_of, put_under, spark_call, text
from lakeward.language.plan.shape.window import WINDOW_COLUMNS


def add_lookup(block: Block, item: Item, scope: Scope, select: exp.Select, planning: Planning) -> None:
    """Look rows up for the block so far; afterwards it is one view."""
    join, lookup = item.join, item.relation.lookup
    assert join is not None
    assert lookup is not None
    is_left = _is_left(join)
    if block.changes is Changes.CHANGELOG:
        raise ScriptError(
            place_of(join),
            "a lookup for a table whose rows change, below a GROUP BY, JOIN or UNION: what was looked up before an "
            "update may have changed since, so it cannot be taken back. INSERT the lookup's result INTO a primary key "
            "table, and read that.",
        )
    keys, rest = _split(join, item, scope)
    on = _chosen_key(keys, lookup, join, item)
    rest += [part for name, part in keys.items() if name not in on]
    is_prefix = len(on) < len(lookup.primary_key)
    is_by_key = block.changes is Changes.UPSERT
    if is_prefix and (is_by_key or (is_left and rest)):
        raise ScriptError(
            place_of(join),
            f"{item.alias} is looked up by a part of its key, {', '.join(on)}, which may find several rows; that does "
            f"not go with {'a table whose rows change' if is_by_key else 'further conditions of a LEFT JOIN'}. Join by "
            f"the whole key: {', '.join(lookup.primary_key)}.",
        )
    filters = is_left or is_by_key or bool(rest)
    used = _used_columns(select, scope, rest)
    step_on = {f"#key{number}": name for number, name in enumerate(on)}
    query = _left_rows(
        block,
        used,
        [(alias, resolve(_other(keys[name], item, scope), scope, block.rename)) for alias, name in step_on.items()],
    )
    wanted = {name for alias, name in used if alias == item.alias} | set(lookup.primary_key)
    columns = tuple(name for name in item.relation.columns if name in wanted)
    prefix = f"{item.alias}#"
    view = planning.engine.look_up(query, LookupStep(lookup, step_on, columns, prefix, filters))
    _flatten(block, view, used)
    block.items.append(item)
    block.values |= {(item.alias, name): column(prefix + name, ROWS) for name in columns}
    found = exp.Not(this=exp.Is(this=column(prefix + lookup.primary_key[0], ROWS), expression=exp.Null()))
    conditions = [resolve(part, scope, block.rename) for part in rest]
    if is_left:
        _hide(block, item, columns, conditions)
    else:
        block.conditions += ([found] if filters else []) + conditions
    if is_prefix and block.key is not None:
        block.key = (*block.key, *(frozenset([(item.alias, name)]) for name in lookup.primary_key))


def _is_left(join: exp.Join) -> bool:
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if side not in {"", "LEFT"} or kind not in {"", "INNER", "OUTER"}:
        raise ScriptError(
            place_of(join), f"{side or kind} JOIN with FOR SYSTEM_TIME AS OF: a lookup is a LEFT or an INNER JOIN."
        )
    return side == "LEFT"


def _split(join: exp.Join, item: Item, scope: Scope) -> tuple[dict[str, exp.Expr], list[exp.Expr]]:
    """The equalities of ON by the column of the table they are about, and everything else."""
    keys: dict[str, exp.Expr] = {}
    rest: list[exp.Expr] = []
    on = join.args.get("on")
    if on is None and join.args.get("using"):
        others = [known for known in scope.items if known is not item]
        for one in join.args["using"]:
            owner = next((known for known in others if known.find(one.name)), None)
            if owner is None:
                raise ScriptError(place_of(one), f"USING ({one.name}): no table before this JOIN has that column.")
            on = exp.and_(on, exp.EQ(this=_open(one.name, owner), expression=_open(one.name, item)))
    for part in conjuncts(on):
        name = _key_of(part, item, scope)
        if name is None or name in keys:
            rest.append(part)
        else:
            keys[name] = part
    return keys, rest


def _open(name: str, item: Item) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(item.alias, quoted=True))


def _key_of(part: exp.Expr, item: Item, scope: Scope) -> str | None:
    """The column of the table that an equality compares with something of the other tables."""
    if not isinstance(part, exp.EQ):
        return None
    for one, other in ((part.this, part.expression), (part.expression, part.this)):
        owner = scope.owner(one) if isinstance(one, exp.Column) else None
        if owner is not None and owner[0] is item and not owner[2] and not _speaks_of(other, item, scope):
            return owner[1]
    return None


def _speaks_of(tree: exp.Expr, item: Item, scope: Scope) -> bool:
    owners = (scope.owner(node) for node in tree.find_all(exp.Column))
    return any(owner is not None and owner[0] is item for owner in owners)


def _other(part: exp.Expr, item: Item, scope: Scope) -> exp.Expr:
    assert isinstance(part, exp.EQ)
    value: exp.Expr = part.expression if _speaks_of(part.this, item, scope) else part.this
    return value


def _chosen_key(keys: dict[str, exp.Expr], lookup: Lookup, join: exp.Join, item: Item) -> tuple[str, ...]:
    if set(lookup.primary_key) <= set(keys):
        return lookup.primary_key
    by_prefix = lookup.bucket_key if len(lookup.bucket_key) < len(lookup.primary_key) else ()
    if by_prefix and set(by_prefix) <= set(keys):
        return by_prefix
    ways = [f"its primary key ({', '.join(lookup.primary_key)})"]
    ways += [f"its bucket key ({', '.join(by_prefix)})"] if by_prefix else []
    raise ScriptError(
        place_of(join),
        f"{item.alias} is looked up by {', '.join(keys) or 'nothing'}, and can be looked up by {' or '.join(ways)}: "
        "say each of these columns in ON, each equal to something of the tables before it.",
    )


def _used_columns(select: exp.Select, scope: Scope, more: list[exp.Expr]) -> list[Place]:
    """The columns that the rest of the query speaks of, each once."""
    used: dict[Place, None] = {}
    for one in scope.stars(select.expressions):
        _note(one, scope, used)
    for key, value in select.args.items():
        if key not in {"expressions", "from_", "with_"}:
            for tree in value if isinstance(value, list) else [value]:
                if isinstance(tree, exp.Expr):
                    _note(tree, scope, used)
    for tree in more:
        _note(tree, scope, used)
    return list(used)


def _note(tree: exp.Expr, scope: Scope, used: dict[Place, None]) -> None:
    for node in tree.find_all(exp.Column):
        if isinstance(node.this, exp.Star):
            continue
        owner = scope.owner(node)
        if owner is not None and (window := owner[0].window) is not None and owner[1] in WINDOW_COLUMNS:
            if isinstance(window.time, exp.Column) and window.time.name != TIME:
                used[owner[0].alias, window.time.name] = None
        elif owner is not None:
            used[owner[0].alias, owner[1]] = None


def _left_rows(block: Block, used: list[Place], keys: list[tuple[str, exp.Expr]]) -> exp.Select:
    """The rows so far, under flat names, with the values to look up and what travels beside."""
    shown = [
        name_as(block.rename(item, name), f"{alias}#{name}")
        for alias, name in used
        for item in block.items
        if item.alias == alias
    ]
    change, time = block.change(), block.hidden_time()
    kept = all_of([condition.copy() for condition in block.conditions])
    if change is not None and kept is not None:
        change = spark_call("IF", kept, change, text("delete"))
    hidden = [name_as(change, CHANGE_TYPE)] if change is not None else []
    hidden += [name_as(time, TIME)] if time is not None else []
    select = block.put_into(exp.select(*shown, *(name_as(value, name) for name, value in keys), *hidden))
    if change is None and kept is not None:
        select = select.where(kept)
    block.conditions.clear()
    return select


def _flatten(block: Block, view: exp.Table, used: list[Place]) -> None:
    here = {item.alias for item in block.items}
    block.sources = [(put_under(view, ROWS), None)]
    block.values = {(alias, name): column(f"{alias}#{name}", ROWS) for alias, name in used if alias in here}
    block.changing = [ROWS] if block.changing else []
    block.times = dict(list(block.times.items())[:1])


def _hide(block: Block, item: Item, columns: tuple[str, ...], conditions: list[exp.Expr]) -> None:
    """A row that was found, but does not meet the further conditions of a LEFT JOIN, counts as not found."""
    if not conditions:
        return
    holds = exp.and_(*conditions)
    for name in columns:
        value = block.values[item.alias, name]
        block.values[item.alias, name] = spark_call("IF", holds.copy(), value, exp.Null())
