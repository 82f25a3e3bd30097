"""Joins on streams: relations come into a block one after the other."""

from __future__ import annotations

from sqlglot import exp

from lakeward.language.changes import Changes
from lakeward.language.place import ScriptError
from lakeward.language.plan.shape.block import Block, Place, source_tree
from lakeward.language.plan.shape.engine import Planning
from lakeward.language.plan.shape.relation import TIME
from lakeward.language.plan.shape.scope import Item, Scope, resolve
from lakeward.language.plan.shape.trees import all_of, column, conjuncts, name_as, place_of
from lakeward.language.plan.steps.lookups import add_lookup

_LOOKUP = "look the table up by its key with FOR SYSTEM_TIME AS OF"


def add_item(block: Block, item: Item, scope: Scope, select: exp.Select, planning: Planning) -> None:
    """Join one relation to the block."""
    if item.join is not None and _is_temporal(item):
        if item.relation.lookup is not None:
            add_lookup(block, item, scope, select, planning)
            return
        if block.changing:
            planning.before(item.join, "a join with a table that has no primary key", block.state)
    if item.join is None:
        block.sources.append((source_tree(item), None))
    elif item.is_lateral:
        if block.changes is Changes.UPSERT:
            planning.before(item.join, "UNNEST", block.state)
        block.sources.append((resolve(source_tree(item), scope, block.rename), item.join))
        block.key = None
    else:
        _join(block, item, scope, select, planning)
        return
    _take(block, item)


def _is_temporal(item: Item) -> bool:
    assert item.join is not None
    return item.join.this.args.get("version") is not None


def _take(block: Block, item: Item) -> None:
    relation = item.relation
    block.items.append(item)
    if relation.is_stream:
        block.is_stream = True
        block.changes = relation.changes
        block.state = (*block.state, *relation.state)
        block.is_shuffled = block.is_shuffled or relation.is_shuffled
    if relation.has_changes:
        block.changing.append(item.alias)
    if relation.time is not None:
        block.times[item.alias] = relation.time
    if not item.is_lateral:
        block.key = _places(item)
        block.of_key = frozenset((item.alias, name) for name in relation.of_key)


def _places(item: Item) -> tuple[frozenset[Place], ...] | None:
    key = item.relation.key
    return None if key is None else tuple(frozenset((item.alias, name) for name in part) for part in key)


def _join(block: Block, item: Item, scope: Scope, select: exp.Select, planning: Planning) -> None:
    join, relation = item.join, item.relation
    assert join is not None
    _check_kind(block, item, planning)
    on = _condition(join, block, item) or _of_where(join, block, item, scope, select)
    if block.changing or relation.has_changes:
        scope.require_sure(on, "JOIN … ON")
    left_key, right_key = block.key, _places(item)
    was_stream, old = block.is_stream, (block.changes, block.of_key)
    block.sources.append((source_tree(item), _with_condition(join, on, scope, block, item)))
    _take(block, item)
    block.changes = Changes.CHANGELOG if block.changing else Changes.APPEND
    if was_stream and relation.is_stream:
        block.state = (*block.state, "join")
    block.is_shuffled = True
    block.of_key = old[1]
    matched = _matches(on, block, item, scope, planning) if left_key is not None and right_key is not None else set()
    is_one_right = right_key is not None and all(part & matched for part in right_key)
    is_one_left = left_key is not None and all(part & matched for part in left_key)
    if left_key is None or right_key is None:
        block.key = None
    else:
        block.key = left_key if is_one_right else right_key if is_one_left else (*left_key, *right_key)


def _matches(on: exp.Expr | None, block: Block, item: Item, scope: Scope, planning: Planning) -> set[Place]:
    """The columns that ON makes equal to one of the other side; the texts '1' and '01' both equal the number 1."""
    pairs = [pair for part in conjuncts(on) if (pair := _pair(part, scope, item)) is not None]
    if not pairs:
        return set()
    known = {one.alias: one for one in block.items}
    values = [block.rename(known[alias], name) for pair in pairs for alias, name in pair]
    shown = [name_as(value, f"c{number}") for number, value in enumerate(values)]
    kinds = planning.engine.kinds(block.put_into(exp.select(*shown)))
    return {place for at, pair in enumerate(pairs) if kinds[2 * at] == kinds[2 * at + 1] for place in pair}


def _check_kind(block: Block, item: Item, planning: Planning) -> None:
    join, relation = item.join, item.relation
    assert join is not None
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if (join.method or "").upper() == "NATURAL":
        raise ScriptError(place_of(join), "NATURAL JOIN on a stream: say the columns with ON or USING.")
    if kind in {"SEMI", "ANTI"}:
        raise ScriptError(place_of(join), f"{kind} JOIN does not run on a stream; use an inner JOIN, or {_LOOKUP}.")
    for one in (block, relation):
        if one.changes is Changes.UPSERT:
            planning.before(join, "JOIN", one.state)
    has_changes = bool(block.changing) or relation.has_changes
    if side and has_changes:
        raise ScriptError(
            place_of(join),
            f"{side} JOIN of a table whose rows change: Spark tells an outer row once and cannot take it back. "
            f"Use an inner JOIN, or {_LOOKUP}.",
        )
    if side and block.is_stream and relation.is_stream and not (block.times and relation.time):
        raise ScriptError(
            place_of(join),
            f"{side} JOIN of two streams needs a WATERMARK on both and a range of time in ON (such as a.ts BETWEEN "
            f"b.ts - INTERVAL '1' HOUR AND b.ts), so that a row without a match is known as such. Add them, use an "
            f"inner JOIN, or {_LOOKUP}.",
        )


def _condition(join: exp.Join, block: Block, item: Item) -> exp.Expr | None:
    using = join.args.get("using")
    if not using:
        return join.args.get("on")
    parts: list[exp.Expr] = []
    for one in using:
        owner = next((known for known in block.items if known.find(one.name)), None)
        if owner is None:
            raise ScriptError(place_of(one), f"USING ({one.name}): no table before this JOIN has that column.")
        parts.append(exp.EQ(this=_open(one.name, owner.alias), expression=_open(one.name, item.alias)))
    return exp.and_(*parts)


def _of_where(join: exp.Join, block: Block, item: Item, scope: Scope, select: exp.Select) -> exp.Expr | None:
    """`FROM a, b WHERE a.x = b.x`: what WHERE says of this relation and those before it is its ON."""
    where = select.args.get("where")
    if where is None or join.side or (join.kind or "").upper() not in {"", "CROSS"}:
        return None
    here = {known.alias for known in (*block.items, item)}
    found = []
    for part in conjuncts(where.this):
        owners = [scope.owner(node) for node in part.find_all(exp.Column)]
        aliases = {owner[0].alias for owner in owners if owner is not None}
        if None not in owners and item.alias in aliases and aliases <= here and len(aliases) > 1:
            found.append(part)
    return all_of([part.copy() for part in found])


def _open(name: str, alias: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(alias, quoted=True))


def _pair(part: exp.Expr, scope: Scope, item: Item) -> tuple[Place, Place] | None:
    """The two columns that an equality makes equal, one of each side of the join."""
    if not isinstance(part, exp.EQ):
        return None
    sides = [scope.owner(one) if isinstance(one, exp.Column) else None for one in (part.this, part.expression)]
    if None in sides:
        return None
    places = [(owner[0].alias, owner[1]) for owner in sides if owner is not None and not owner[2]]
    if len(places) != 2 or (places[0][0] == item.alias) == (places[1][0] == item.alias):
        return None
    return places[0], places[1]


def _with_condition(join: exp.Join, on: exp.Expr | None, scope: Scope, block: Block, item: Item) -> exp.Join:
    """The join with its columns found; event times of two streams are compared by their twins, which Spark knows."""
    join = join.copy()
    join.set("using", None)
    if on is not None and (join.kind or "").upper() == "CROSS":
        join.set("kind", None)
    if on is None:
        return join
    has_twins = bool(block.times) and item.relation.time is not None

    def rename(owner: Item, name: str) -> exp.Expr:
        time, alias = (item.relation.time, item.alias) if owner is item else block.time_of(owner.alias)
        if has_twins and time is not None and time.column == name:
            return column(TIME, alias)
        return block.rename(owner, name)

    join.set("on", resolve(on, scope, rename))
    return join
