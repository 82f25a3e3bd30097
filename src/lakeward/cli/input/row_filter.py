"""Rows for which a condition is true, as they come; DuckDB decides."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from lakeward.cli.input.failures import Failure

if TYPE_CHECKING:
    import pyarrow as pa


def matching(
    batches: Generator[pa.RecordBatch | pa.Table, None, None], where: str, columns: Sequence[str], limit: int | None
) -> Generator[pa.RecordBatch | pa.Table, None, None]:
    """The rows of batches for which a condition is true: some of their columns, and no more than `limit`."""
    try:
        import duckdb
    except ModuleNotFoundError:
        raise Failure("--where needs DuckDB: pip install 'lakeward[duckdb]'.") from None
    left = limit
    try:
        with duckdb.connect() as database:
            for batch in batches:
                try:
                    found = database.from_arrow(batch).filter(where).to_arrow_table()
                except duckdb.Error as wrong:
                    raise Failure(f"--where {where}: {wrong}") from wrong
                if columns:
                    found = found.select([*columns, *(n for n in found.column_names if _is_metadata(n, columns))])
                if left is not None:
                    found = found.slice(0, left)
                    left -= found.num_rows
                yield found
                if left == 0:
                    return
    finally:
        batches.close()


def _is_metadata(name: str, columns: Sequence[str]) -> bool:
    return name in {"_bucket", "_offset", "_timestamp", "_change_type"} and name not in columns
