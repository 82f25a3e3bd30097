"""Where the rows of given keys lie: the position deletes of a merge. Only key columns are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lakeward.lake.iceberg.read.lake_files import Inputs

#: The names and ids that Iceberg's format prescribes for a file of position deletes.
DELETE_SCHEMA = pa.schema(
    [
        pa.field("file_path", pa.string(), nullable=False, metadata={"PARQUET:field_id": "2147483546"}),
        pa.field("pos", pa.int64(), nullable=False, metadata={"PARQUET:field_id": "2147483545"}),
    ]
)
_POSITION = "__pos"


def deleted_positions(io: Inputs, delete_paths: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """Positions that are deleted already, by data file."""
    if not delete_paths:
        return {}
    rows = pa.concat_tables(
        [read_columns(io, path, DELETE_SCHEMA.names).cast(pa.schema(list(DELETE_SCHEMA))) for path in delete_paths]
    )
    paths = rows["file_path"].combine_chunks().dictionary_encode()
    positions = rows["pos"].to_numpy()
    codes = paths.indices.to_numpy()
    return {path: positions[codes == code] for code, path in enumerate(paths.dictionary.to_pylist())}


class DeletedPositions:
    """Deleted positions of data files; files of deletes are read once, as long as neighbours ask for the same."""

    def __init__(self, io: Inputs) -> None:
        self._io = io
        self._known: tuple[tuple[str, ...], dict[str, NDArray[np.int64]]] = ((), {})

    def of(self, path: str, delete_paths: Sequence[str]) -> NDArray[np.int64] | None:
        """The positions of a data file that these files of deletes name."""
        paths = tuple(delete_paths)
        known, found = self._known  # taken at once: threads share this
        if known != paths:
            found = deleted_positions(self._io, paths)
            self._known = (paths, found)
        return found.get(path)


def positions_of(
    io: Inputs, data_paths: Sequence[str], deleted: dict[str, NDArray[np.int64]], keys: pa.Table
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """For each data file that holds live rows of these keys: the file and the rows' positions, ascending."""
    names = keys.column_names
    for path in sorted(data_paths):
        found = matching_rows(read_columns(io, path, names), keys)
        gone = deleted.get(path)
        if gone is not None:
            found = found[~np.isin(found, gone)]
        if len(found):
            yield path, found


def rows_without(
    io: Inputs, path: str, deleted: NDArray[np.int64] | None, keys: pa.Table, schema: pa.Schema
) -> list[pa.RecordBatch]:
    """The live rows of a data file whose keys are not among these, in the given columns; missing ones are NULL."""
    rows = read_columns(io, path, None)
    live = np.ones(rows.num_rows, np.bool_)
    live[matching_rows(rows.select(keys.column_names), keys)] = False
    if deleted is not None:
        live[deleted] = False
    rows = rows.filter(pa.array(live))
    columns = [
        rows[f.name].cast(f.type) if f.name in rows.column_names else pa.nulls(rows.num_rows, f.type) for f in schema
    ]
    found: list[pa.RecordBatch] = pa.table(columns, schema=schema).to_batches()
    return found


def matching_rows(rows: pa.Table, keys: pa.Table) -> NDArray[np.int64]:
    """Which rows have one of these keys, ascending; `rows` are key columns as a file holds them."""
    names = keys.column_names
    if len(names) == 1 and not pa.types.is_floating(keys.schema.field(0).type):
        wanted = keys[names[0]].combine_chunks()
        held = rows[names[0]].cast(wanted.type)
        if 2 * len(held) < len(wanted):  # a hash table of the fewer is the cheaper one
            wanted = wanted.filter(pc.is_in(wanted, value_set=held.combine_chunks()))
        return np.flatnonzero(pc.is_in(held, value_set=wanted).to_numpy())
    numbered = rows.select(names).cast(keys.schema).append_column(_POSITION, pa.array(np.arange(rows.num_rows)))
    matched = numbered.join(keys, names, join_type="left semi")
    return np.sort(matched[_POSITION].to_numpy())


def read_columns(io: Inputs, path: str, columns: Sequence[str] | None) -> pa.Table:
    """A file's rows, or some columns of them; FileNotFoundError where it is gone."""
    with io.new_input(path).open() as stream:
        return pq.read_table(stream, columns=None if columns is None else list(columns))
