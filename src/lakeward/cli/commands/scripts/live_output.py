"""The changes of a streaming SELECT, one row each, as they come: for pipes, files and plain terminals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakeward.cli.output.row_output import row_output

if TYPE_CHECKING:
    from lakeward.spark.scripts.state.live_rows import LiveRows

_SIGNS = {"insert": "+I", "update_before": "-U", "update_after": "+U", "delete": "-D"}


def write_changes(live: LiveRows, output: str) -> None:
    """From now on write every change to stdout."""
    import pyarrow as pa

    schema = pa.schema([pa.field("op", pa.string()), *live.schema])
    out = row_output(output, schema, streams=True)

    def write(changes: Sequence[tuple[str, tuple[Any, ...]]]) -> None:
        rows = [(_SIGNS.get(kind, kind), *row) for kind, row in changes]
        columns = [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=True)]
        out.write(pa.table(columns, schema=schema))

    live.listen(lambda changes: write(changes) if changes else None)
