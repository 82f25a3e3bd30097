"""The compiled merge against those that decide row by row: the same values, changes and refusals."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from merge_tables import INT, PkTable, column

from lakeward.errors import LakewardError
from lakeward.model import data_types as t
from lakeward.model.data_types import DataType
from lakeward.model.schema import Column
from lakeward.model.values import Timestamp
from lakeward.records.batch.kv_batch import KvBatch, build_kv_batch, parse_kv_batch
from lakeward.records.kernels.spans import Spans
from lakeward.storage.kv.auto_increment import AutoIncrement
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.merge.merge_engines import LastRow
from lakeward.storage.kv.merge.row_merger import RowMerger
from lakeward.storage.kv.merge_loop.program import program_of
from lakeward.storage.kv.merging import Merged, merge_compiled, merge_one_by_one
from lakeward.storage.kv.store.slices import Slices

NUMBER = ["sum", "product", "max", "min"]
PLAIN = [None, "last_value", "last_value_ignore_nulls", "first_value", "first_value_ignore_nulls"]


def whole(bits: int) -> st.SearchStrategy[int]:
    """Integers of so many bits, the outermost often."""
    edge = 1 << (bits - 1)
    return st.sampled_from([-edge, edge - 1, -1, 0, 1, 127, 128]).filter(lambda n: -edge <= n < edge) | st.integers(
        -edge, edge - 1
    )


def decimals(digits: int, scale: int) -> st.SearchStrategy[Decimal]:
    """Decimals of so many digits."""
    return whole(60).map(lambda n: Decimal(int(math.fmod(n, 10**digits))).scaleb(-scale))


TEXT, BLOB = st.text("abü\0", max_size=3), st.binary(max_size=3)
MOMENTS = st.builds(Timestamp, st.integers(-5, 5) | whole(50), st.integers(0, 999_999))
#: Types, what may become of their values, and values.
KINDS: list[tuple[DataType, list[str], st.SearchStrategy[Any]]] = [
    (t.BOOLEAN(), ["bool_and", "bool_or"], st.booleans()),
    (t.TINYINT(), NUMBER, whole(8)),
    (t.SMALLINT(), NUMBER, whole(16)),
    (t.INT(), NUMBER, whole(32)),
    (t.BIGINT(), NUMBER, whole(64)),
    (t.FLOAT(), NUMBER, st.floats(width=32)),
    (t.DOUBLE(), NUMBER, st.floats()),
    (t.DECIMAL(9, 2), ["sum", "max", "min"], decimals(9, 2)),
    (t.DECIMAL(18, 0), ["sum", "max", "min"], decimals(18, 0)),
    (t.DECIMAL(25, 3), [], decimals(18, 3)),
    (t.DATE(), ["max", "min"], st.integers(-9, 9)),
    (t.TIME(3), ["max", "min"], st.integers(0, 86_399_999)),
    (t.TIMESTAMP(3), ["max", "min"], st.integers(-9, 9).map(Timestamp)),
    (t.TIMESTAMP_LTZ(6), ["max", "min"], MOMENTS),
    (t.STRING(), ["max", "min", "listagg", "string_agg"], TEXT),
    (t.CHAR(4), ["max", "min"], st.text("ab", max_size=4)),
    (t.BINARY(3), [], st.binary(min_size=3, max_size=3)),
    (t.BYTES(), [], BLOB),
    (t.ARRAY(INT), [], st.lists(st.none() | st.integers(0, 3), max_size=2).map(tuple)),
]
VALUES = {type_: st.none() | values for type_, _, values in KINDS}


def _column(data: st.DataObject, name: str, *, aggregates: bool, types: list[Any] = KINDS) -> Column:
    type_, functions, _ = data.draw(st.sampled_from(types))
    function = data.draw(st.sampled_from([*PLAIN, *functions])) if aggregates else None
    more = {"delimiter": "–"} if function == "listagg" else {}
    return column(name, type_, function, **more)


def _table(data: st.DataObject) -> PkTable:
    engine = data.draw(st.sampled_from([None, "first_row", "versioned", "aggregation", "aggregation"]))
    properties = {
        "table.kv.format": data.draw(st.sampled_from(["COMPACTED", "INDEXED"])),
        "table.changelog.image": data.draw(st.sampled_from(["FULL", "WAL"])),
        "table.delete.behavior": data.draw(st.sampled_from(["ALLOW", "ALLOW", "IGNORE", "DISABLE"])),
        "table.merge-engine.versioned.ver-column": "c0",
    }
    aggregates = engine == "aggregation"
    versions = [k for k in KINDS if k[0] in {t.INT(), t.BIGINT(), t.TIMESTAMP(3), t.TIMESTAMP_LTZ(6)}]
    columns = [_column(data, "c0", aggregates=aggregates, types=versions if engine == "versioned" else KINDS)]
    columns += [_column(data, f"c{i}", aggregates=aggregates) for i in range(1, data.draw(st.integers(1, 9)))]
    numbered = []
    if engine is None and data.draw(st.booleans()):
        columns.append(Column("number", t.BIGINT()))
        numbered = ["number"]
    if engine is not None:
        properties["table.merge-engine"] = engine
    table = PkTable([("k", INT), *columns], properties=properties, auto_increment=numbered)
    for i in range(data.draw(st.integers(0, 2))):
        table.add_column(_column(data, f"n{i}", aggregates=aggregates))
    return table


def _targets(data: st.DataObject, table: PkTable) -> list[int] | None:
    schema = table.info.schema
    if table.properties.get("table.merge-engine") in {"first_row", "versioned"}:
        return None
    free = [i for i, c in enumerate(schema.columns) if i and c.name not in schema.auto_increment]
    if "table.merge-engine" in table.properties and data.draw(st.booleans()):
        return None
    return [0, *sorted(data.draw(st.sets(st.sampled_from(free))))]


def _value(data: st.DataObject, table: PkTable, key: int, schema_id: int) -> bytes:
    columns = table.schemas[schema_id].columns[1:]
    return table.value(key, *(data.draw(VALUES[c.type]) for c in columns), schema_id=schema_id)


def _batch(data: st.DataObject, table: PkTable, schema_id: int) -> KvBatch:
    keys = data.draw(st.lists(st.integers(0, 5), min_size=1, max_size=12))
    rows = [b"" if data.draw(st.integers(0, 4)) == 0 else _value(data, table, key, schema_id)[2:] for key in keys]
    return parse_kv_batch(build_kv_batch(schema_id, Spans.of([bytes([k]) for k in keys]), Spans.of(rows)))


def _plain(merged: Merged) -> tuple[Any, ...]:
    keys, values, changes = merged
    return keys.to_list(), values.to_list(), changes.kinds.tolist(), list(changes.values.pieces())


def _by_row(kv: KvTable, batch: KvBatch, old: Slices, merger: RowMerger) -> tuple[Any, ...] | None:
    keys = Slices(batch.data, batch.key_starts, batch.key_ends)
    try:
        return _plain(merge_one_by_one(kv, batch, keys, old, merger))
    except LakewardError:
        return None


def _damaged(data: st.DataObject, row: bytes | bytearray) -> bytes:
    """The row, or one with another byte in it."""
    changed = bytearray(row)
    if data.draw(st.booleans()):
        changed[data.draw(st.integers(0, len(row) - 1))] = data.draw(st.integers(0, 255))
    return bytes(changed)


def _old(data: st.DataObject, table: PkTable, batch: KvBatch, *, damaged: bool = False) -> Slices:
    """What is stored for the keys of a batch."""
    ids = st.sampled_from(sorted(table.schemas))
    state: dict[bytes, bytes | None] = {}
    for key in dict.fromkeys(batch.keys.pieces()):
        value = _value(data, table, key[0], data.draw(ids)) if data.draw(st.booleans()) else None
        state[key] = value[:2] + _damaged(data, value[2:]) if value is not None and damaged else value
    return Slices.of([state[key] for key in batch.keys.pieces()])


def _merger(table: PkTable, targets: list[int] | None, numbers: AutoIncrement | None) -> RowMerger:
    return table.merger(targets, next_id=None if numbers is None else numbers.take)


def _numbers(table: PkTable) -> AutoIncrement | None:
    return AutoIncrement(table.info, lambda _: 6) if table.auto_increment else None


@given(st.data())
def test_both_ways_make_the_same_of_a_batch(data: st.DataObject) -> None:
    """Any engine, format, function, schema and target columns; keys that come more than once."""
    table = _table(data)
    targets = _targets(data, table)
    kv = KvTable.of(table.info, table.schemas.get)
    batch = _batch(data, table, data.draw(st.sampled_from(sorted(table.schemas))))
    old = _old(data, table, batch)
    mine, theirs = _numbers(table), _numbers(table)
    expected = _by_row(kv, batch, old, _merger(table, targets, theirs))
    if mine is not None:
        mine.hold(len(old))
    merger = _merger(table, targets, mine)
    program = program_of(merger, full_image=kv.image == "FULL")
    assert (program is None) == (type(merger) is LastRow)
    if program is None:
        return
    found = merge_compiled(program, batch, old, mine)
    if expected is None:
        assert found is None
    elif found is None:
        assert kv.kv_format == "INDEXED"
        assert {t.FLOAT(), t.DOUBLE()} & {c.type for c in table.info.schema.columns}
    else:
        assert _plain(found) == expected
        assert mine is None or theirs is None or mine.take() == theirs.take()


@given(st.data())
def test_damaged_rows_are_never_merged_by_the_compiled_loop_alone(data: st.DataObject) -> None:
    """A byte of a batch or of a stored value is changed: what Python refuses is refused, what it takes is the same."""
    table = _table(data)
    targets = _targets(data, table)
    kv = KvTable.of(table.info, table.schemas.get)
    batch = _batch(data, table, data.draw(st.sampled_from(sorted(table.schemas))))
    old = _old(data, table, batch, damaged=True)
    if (batch.row_starts >= 0).any():
        which = data.draw(st.sampled_from(np.flatnonzero(batch.row_starts >= 0).tolist()))
        changed = bytearray(batch.data)
        at = int(batch.row_starts[which])
        changed[at : int(batch.row_ends[which])] = _damaged(data, changed[at : int(batch.row_ends[which])])
        batch = batch._replace(data=np.frombuffer(bytes(changed), np.uint8))
    mine, theirs = _numbers(table), _numbers(table)
    expected = _by_row(kv, batch, old, _merger(table, targets, theirs))
    if mine is not None:
        mine.hold(len(old))
    program = program_of(_merger(table, targets, mine), full_image=kv.image == "FULL")
    if program is None:
        return
    found = merge_compiled(program, batch, old, mine)
    assert found is None or _plain(found) == expected


@given(st.integers(1, 40), st.integers(1, 400), st.binary(min_size=300, max_size=300))
@example(40, 400, b"x" * 300)
def test_rows_that_grow_find_room(records: int, size: int, text: bytes) -> None:
    """Joined text outgrows what came in: the loop goes on in a larger buffer."""
    table = PkTable([("k", INT), column("c", t.STRING(), "listagg", delimiter="-" * 50)], properties=_AGGREGATES)
    kv = KvTable.of(table.info, table.schemas.get)
    row = table.value(1, text[:size].hex())[2:]
    batch = parse_kv_batch(build_kv_batch(1, Spans.of([b"\1"] * records), Spans.of([row] * records)))
    old = Slices.of([None] * records)
    merger = table.merger()
    program = program_of(merger, full_image=True)
    assert program is not None
    found = merge_compiled(program, batch, old, None)
    assert found is not None
    assert _plain(found) == _by_row(kv, batch, old, merger)


_AGGREGATES = {"table.merge-engine": "aggregation"}


def test_bitmaps_and_wide_decimals_have_no_program() -> None:
    """What the loop cannot compute is left to the mergers."""
    for kind, function in ((t.BYTES(), "rbm32"), (t.DECIMAL(25, 2), "sum"), (t.DECIMAL(9, 2), "product")):
        table = PkTable([("k", INT), column("c", kind, function)], properties=_AGGREGATES)
        assert program_of(table.merger(), full_image=True) is None
