"""Net changes of a micro-batch by key: where rows were moved between tasks, what adds and what takes away cancel."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakeward.language.changes import CHANGE_TYPE
from lakeward.language.plan.shape.trees import quote

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_COUNT, _ROW = "__count", "__row"


def net_changes(frame: DataFrame, key: Sequence[str], volatile: Collection[str] = ()) -> DataFrame:
    """One row for each key of a micro-batch: what it is afterwards, or that it is gone; unchanged ones are left out.

    `volatile` columns have another value when a row is taken back, so rows are compared without them.
    """
    names = [name for name in frame.columns if name != CHANGE_TYPE and name not in volatile]

    def cancel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return cancel_out(batches, names, list(key))

    columns = [frame[quote(name)] for name in key]
    return frame.repartition(*columns).mapInArrow(cancel, frame.schema)


def cancel_out(batches: Iterator[pa.RecordBatch], names: list[str], key: list[str]) -> Iterator[pa.RecordBatch]:
    """The net of the changes in all batches, deletes first; a key that is added and taken away is only added."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    found = [batch for batch in batches if batch.num_rows]
    if not found:
        return
    table = pa.Table.from_batches(found)
    is_added = pc.not_equal(table[CHANGE_TYPE], "delete")
    compared = pa.table([_comparable(table[name]) for name in names], names=[f"#{name}" for name in names])
    compared = compared.append_column(_COUNT, pc.if_else(is_added, 1, -1))
    # The last row of its kind that was added stands for all of them, else the last that was taken away.
    numbers = np.arange(table.num_rows) + np.where(is_added.to_numpy(), table.num_rows, 0)
    compared = compared.append_column(_ROW, pa.array(numbers))
    net = compared.group_by([f"#{name}" for name in names]).aggregate([(_COUNT, "sum"), (_ROW, "max")])
    count = net[f"{_COUNT}_sum"]
    added, gone = net.filter(pc.greater(count, 0)), net.filter(pc.less(count, 0))
    keys = [f"#{name}" for name in key]
    if gone.num_rows and added.num_rows:
        gone = gone.select([*keys, f"{_ROW}_max"]).join(added.select(keys), keys=keys, join_type="left anti")
    for rows, change in ((gone, "delete"), (added, "update_after")):
        if rows.num_rows:
            places = rows[f"{_ROW}_max"].to_numpy() % table.num_rows
            changes = pa.array([change] * rows.num_rows, pa.string())
            at = table.schema.get_field_index(CHANGE_TYPE)
            yield from table.take(pa.array(places)).set_column(at, table.schema.field(at), changes).to_batches()


def _comparable(column: pa.ChunkedArray) -> Any:
    """A column whose values Arrow can group by: of arrays, maps and rows their text."""
    import pyarrow as pa

    return column if not pa.types.is_nested(column.type) else pa.array([repr(value) for value in column.to_pylist()])
