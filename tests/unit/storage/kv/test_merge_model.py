"""Mergers against the plainest model there is: rows as dicts of columns, functions as one-liners."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from merge_tables import INT, STRING, PkTable, Row, apply_records, column

from lakeward.errors import InvalidError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.model.schema import Column
from lakeward.model.values import Timestamp
from lakeward.storage.kv.merge.changelog import Image

Cells = dict[str, Any]
Function = Callable[[Any, Any], Any]

both: dict[str, Function] = {
    "sum": lambda a, b: a + b,
    "max": max,
    "min": min,
    "bool_and": lambda a, b: a and b,
    "bool_or": lambda a, b: a or b,
    "listagg": lambda a, b: f"{a},{b}",
    "first_value": lambda a, b: a,
    "last_value_ignore_nulls": lambda a, b: b,
}
"""What two cells make that are not NULL."""

KINDS: list[tuple[DataType, str | None, st.SearchStrategy[Any]]] = [
    (t.BIGINT(), "sum", st.integers(-100, 100)),
    (t.DECIMAL(20, 2), "sum", st.integers(-100, 100).map(lambda n: Decimal(n).scaleb(-2))),
    (t.DECIMAL(10, 1), "max", st.integers(-100, 100).map(lambda n: Decimal(n).scaleb(-1))),
    (t.DOUBLE(), "min", st.integers(-5, 5).map(float)),
    (t.STRING(), "max", st.text("abü", max_size=3)),
    (t.STRING(), "listagg", st.text("ab", max_size=2)),
    (t.BOOLEAN(), "bool_and", st.booleans()),
    (t.BOOLEAN(), "bool_or", st.booleans()),
    (t.TIMESTAMP(6), "first_value", st.integers(0, 5).map(Timestamp)),
    (t.ARRAY(INT), "last_value", st.lists(st.integers(0, 3), max_size=2).map(tuple)),
    (t.BYTES(), None, st.binary(max_size=2)),
]
ENGINES = [None, "first_row", "versioned", "aggregation"]


@dataclass
class Model:
    """A table of dicts."""

    engine: str | None
    deletes: str
    functions: dict[str, str]
    state: dict[int, Cells] = field(default_factory=dict)
    log: list[tuple[str, Cells]] = field(default_factory=list)

    def upsert(self, key: int, new: Cells, targets: set[str]) -> None:
        """One row; `targets` are the columns it speaks of."""
        old = self.state.get(key)
        if old is None:
            self._put(key, {name: value if name in targets else None for name, value in new.items()})
        elif self.engine == "aggregation":
            merged = {name: self._merged(name, old.get(name), new.get(name)) for name in new.keys() | old.keys()}
            self._put(key, {name: merged[name] if name in targets else old.get(name) for name in merged})
        elif self.engine == "versioned":
            if (-(2**31) if old["v"] is None else old["v"]) <= (-(2**31) if new["v"] is None else new["v"]):
                self._put(key, new)
        elif self.engine is None and targets != {"k"}:
            self._put(key, old | {name: value for name, value in new.items() if name in targets})

    def delete(self, key: int, targets: set[str] | None) -> None:
        """One deletion; None: of the whole row."""
        old = self.state.get(key)
        if old is None or self.deletes == "IGNORE":
            return
        if targets is None or all(old[name] is None for name in old if name not in targets):
            self.log.append(("DELETE", self.state.pop(key)))
        else:
            self._put(key, {name: None if name in targets and name != "k" else cell for name, cell in old.items()})

    def _merged(self, name: str, old: Any, new: Any) -> Any:
        function = "last_value" if name == "k" else self.functions[name]
        if function == "last_value":
            return new
        if old is None or new is None:
            return new if old is None else old
        return both[function](old, new)

    def _put(self, key: int, new: Cells) -> None:
        old = self.state.get(key)
        self.log += [("INSERT", new)] if old is None else [("UPDATE_BEFORE", old), ("UPDATE_AFTER", new)]
        self.state[key] = new


@st.composite
def tables(draw: st.DrawFn) -> PkTable:
    """A table (k INT, v INT, and a few more columns)."""
    engine = draw(st.sampled_from(ENGINES))
    deletes = "IGNORE" if engine in {"first_row", "versioned"} else draw(st.sampled_from(["ALLOW", "IGNORE"]))
    properties = {
        "table.kv.format": draw(st.sampled_from(["COMPACTED", "INDEXED"])),
        "table.delete.behavior": deletes,
        "table.merge-engine.versioned.ver-column": "v",
    }
    if engine is not None:
        properties["table.merge-engine"] = engine
    kinds = draw(st.lists(st.sampled_from(KINDS), max_size=4))
    more = [_column(f"c{i}", kind, engine) for i, kind in enumerate(kinds)]
    return PkTable([("k", INT), ("v", INT), *more], properties=properties)


def _column(name: str, kind: tuple[DataType, str | None, Any], engine: str | None) -> Column:
    type_, function, _ = kind
    return column(name, type_, function if engine == "aggregation" else None)


def _cells(types: Sequence[DataType]) -> st.SearchStrategy[Row]:
    by_type = {type_: cell for type_, _, cell in KINDS} | {INT: st.integers(0, 5), STRING: st.text("ab", max_size=3)}
    return st.tuples(*(st.none() | by_type[type_] for type_ in types))


@given(tables(), st.data())
def test_mergers_do_as_the_model_does(table: PkTable, data: st.DataObject) -> None:
    """Random requests, engines, target columns and new columns: the same state, and the same changelog."""
    engine = table.properties.get("table.merge-engine")
    model = Model(engine, table.properties["table.delete.behavior"], {})
    state: dict[bytes, bytes] = {}
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.integers(0, 4)) == 0:
            table.add_column(_column(f"n{max(table.schemas)}", data.draw(st.sampled_from(KINDS)), engine))
        latest = table.info.schema
        model.functions = {
            c.name: c.aggregate.function if c.aggregate else "last_value_ignore_nulls" for c in latest.columns
        }
        targets = None
        if engine in {None, "aggregation"} and data.draw(st.booleans()):
            targets = sorted({0} | data.draw(st.sets(st.integers(1, len(latest.columns) - 1))))
        named = set(latest.names) if targets is None else {latest.names[i] for i in targets}
        schema_id = data.draw(st.sampled_from(sorted(table.schemas)))
        schema = table.schemas[schema_id]
        records: list[tuple[bytes, bytes | None]] = []
        model.log.clear()
        for key in data.draw(st.lists(st.integers(0, 3), max_size=6)):
            if data.draw(st.integers(0, 3)) == 0:
                records.append((bytes([key]), None))
                model.delete(key, None if len(named) == len(latest.columns) else named)
            else:
                row = (key, *data.draw(_cells([c.type for c in schema.columns[1:]])))
                records.append((bytes([key]), table.value(*row, schema_id=schema_id)))
                model.upsert(key, dict.fromkeys(latest.names) | dict(zip(schema.names, row, strict=True)), named)
        log = apply_records(state, records, table.merger(targets), Image.FULL)
        assert [(change.type.name, _as_cells(table, change.value)) for change in log] == [
            (kind, _widened(table, row)) for kind, row in model.log
        ]
        assert {key[0]: _as_cells(table, value) for key, value in state.items()} == {
            key: _widened(table, row) for key, row in model.state.items()
        }


def _as_cells(table: PkTable, value: bytes) -> Cells:
    schema = table.schemas[int.from_bytes(value[:2], "little")]
    return _widened(table, dict(zip(schema.names, table.row(value), strict=True)))


def _widened(table: PkTable, row: Cells) -> Cells:
    return dict.fromkeys(table.info.schema.names) | row


def test_a_refused_record_leaves_nothing_behind() -> None:
    """The merger itself keeps no state: what came before in the batch can be dropped with it."""
    table = PkTable([("k", INT), ("n", INT.not_null())], properties={"table.merge-engine": "aggregation"})
    merger = table.merger()
    with pytest.raises(InvalidError):
        apply_records({}, [(b"1", table.value(1, 1)), (b"2", table.value(2, None))], merger)
    assert [c.type.name for c in apply_records({}, [(b"1", table.value(1, 1))], merger)] == ["INSERT"]
