"""RowShape: the columns a table needs, and those a file has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from lakeward.model.schema import Schema
from lakeward.records.arrow.arrow_casts import check_nulls
from lakeward.records.arrow.arrow_types import arrow_schema


class RowShape:
    """Puts columns of a file into the order of a table."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._arrow = arrow_schema(schema)
        self._known = frozenset(schema.names)

    def complaint(self, names: Sequence[str]) -> str | None:
        """What is wrong with the columns of a file, or None."""
        unknown = [name for name in names if name not in self._known]
        if unknown:
            return f"the table has no column {in_quotes(unknown)}; its columns are {in_quotes(self.schema.names)}"
        doubled = [name for name, count in Counter(names).items() if count > 1]
        if doubled:
            return f"column {in_quotes(doubled)} is there more than once"
        missing = [c.name for c in self.schema.columns if c.name not in names and not c.type.nullable]
        return f"column {in_quotes(missing)} is missing and NOT NULL" if missing else None

    def unknown(self, names: Iterable[str]) -> list[str]:
        """The names that are no columns of the table."""
        return [name for name in names if name not in self._known]

    def batch(self, columns: Mapping[str, pa.Array], rows: int) -> pa.RecordBatch:
        """The columns in the table's order; missing ones are NULL, which a NOT NULL column refuses."""
        arrays = []
        for field in self._arrow:
            values = columns[field.name] if field.name in columns else pa.nulls(rows, field.type)
            check_nulls(values, field, field.name)
            arrays.append(values)
        return pa.RecordBatch.from_arrays(arrays, schema=self._arrow)


def in_quotes(names: Iterable[str]) -> str:
    """`'a', 'b'`."""
    return ", ".join(f"'{name}'" for name in names)
