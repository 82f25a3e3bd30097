"""Block: what FROM and its joins have become so far, and where each column is found in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from lakeward.language.changes import Changes
from lakeward.language.plan.shape.relation import TIME, EventTime
from lakeward.language.plan.shape.scope import Item
from lakeward.language.plan.shape.trees import change_type, column, is_added, put_under, spark_call, text
from lakeward.language.plan.shape.window import WINDOW_COLUMNS, Window

#: The name of rows that a lookup has flattened.
ROWS = "__rows"

#: A column of a relation in FROM.
Place = tuple[str, str]


@dataclass
class Block:
    """Relations joined one after the other; after a lookup they are one view, with columns under flat names."""

    sources: list[tuple[exp.Expr, exp.Join | None]] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    values: dict[Place, exp.Expr] = field(default_factory=dict)
    changing: list[str] = field(default_factory=list)
    changes: Changes = Changes.APPEND
    key: tuple[frozenset[Place], ...] | None = None
    of_key: frozenset[Place] = frozenset()
    times: dict[str, EventTime] = field(default_factory=dict)
    state: tuple[str, ...] = ()
    is_shuffled: bool = False
    is_stream: bool = False
    #: Conditions that lookups add to WHERE; for changes by key, a row that fails one is a delete.
    conditions: list[exp.Expr] = field(default_factory=list)

    @property
    def is_flat(self) -> bool:
        """Whether a lookup has made one view of what came before."""
        return bool(self.values)

    def rename(self, item: Item, name: str) -> exp.Expr:
        """A column of a relation, as it is called in this block."""
        window = self.window_of(item)
        if window is not None and name in WINDOW_COLUMNS:
            return window.field(name)
        value = self.values.get((item.alias, name))
        return value.copy() if value is not None else column(name, item.alias)

    def window_of(self, item: Item) -> Window | None:
        """The window of a relation, over the time column as this block has it."""
        window = item.window
        if window is None or not isinstance(window.time, exp.Column) or not self.is_flat:
            return window
        name = window.time.name
        return replace(window, time=column(TIME, ROWS) if name == TIME else self.values[item.alias, name].copy())

    def time_of(self, alias: str) -> tuple[EventTime | None, str]:
        """The event time of a relation, and the name that its twin is qualified with."""
        return self.times.get(alias), ROWS if self.is_flat else alias

    def change(self) -> exp.Expr | None:
        """The change type of a row of the block; None when rows are only added."""
        if not self.changing:
            return None
        if len(self.changing) == 1:
            return change_type(self.changing[0])
        is_more = exp.GT(this=self.weight(), expression=exp.Literal.number(0))
        return spark_call("IF", is_more, text("insert"), text("delete"))

    def weight(self) -> exp.Expr:
        """+1 for a row that is added, -1 for one that is taken away."""
        weights: list[exp.Expr] = [
            spark_call("IF", is_added(alias), number(1), exp.Neg(this=number(1))) for alias in self.changing
        ]
        product = weights[0]
        for one in weights[1:]:
            product = exp.Mul(this=product, expression=one)
        return exp.Paren(this=product)

    def hidden_time(self) -> exp.Expr | None:
        """The twin of the first event time, to travel beside the rows."""
        for alias in self.times:
            return column(TIME, self.time_of(alias)[1])
        return None

    def put_into(self, select: exp.Select) -> exp.Select:
        """The SELECT with this block as its FROM."""
        (first, _), *others = self.sources
        select.set("from_", exp.From(this=first))
        joins = []
        for tree, join in others:
            assert join is not None
            join = join.copy()
            join.set("this", tree)
            joins.append(join)
        select.set("joins", joins)
        return select


def source_tree(item: Item) -> exp.Expr:
    """A relation in FROM under its alias; laterals stay as they are."""
    return item.relation.tree.copy() if item.is_lateral else put_under(item.relation.tree, item.alias)


def number(value: int) -> exp.Expr:
    """A BIGINT."""
    return exp.Cast(this=exp.Literal.number(value), to=exp.DataType.build("BIGINT"))
