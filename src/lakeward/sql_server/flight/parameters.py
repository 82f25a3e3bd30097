"""Values of prepared statements as literals of SQL."""

from __future__ import annotations

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.sql_server.postgres.codec.pg_types import oid_of
from lakeward.sql_server.postgres.codec.sql_text import SqlText, replace_pieces, statements_of, tokens_of
from lakeward.sql_server.postgres.codec.values_text import text_values
from lakeward.sql_server.postgres.parameters import literal_of


def with_numbers(sql: str) -> SqlText:
    """One statement, with `$1`, `$2` … in the place of each `?`."""
    marks = [token for token in tokens_of(sql) if token.text == "?"]
    found = statements_of(replace_pieces(sql, {t.at: (t.at + 1, f"${n}") for n, t in enumerate(marks, 1)}))
    if len(found) != 1:
        raise ErrorCode.INVALID_SCAN_REQUEST.error("One query at a time: there are none, or several statements here.")
    return found[0]


def bindable(schema: pa.Schema) -> pa.Schema:
    """Parameters as clients are told of them. JDBC's driver (18.3) writes milliseconds, whatever the unit is."""
    return pa.schema([_in_millis(field) if pa.types.is_timestamp(field.type) else field for field in schema])


def _in_millis(field: pa.Field) -> pa.Field:
    return field.with_type(pa.timestamp("ms", field.type.tz))


def row_literals(rows: pa.Table) -> list[str]:
    """The literals of one row."""
    if rows.num_rows != 1:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(f"One row of values is taken, not {rows.num_rows}.")
    batch = rows.combine_chunks().to_batches()[0]
    texts = [text_values(column)[0].as_py() for column in batch.columns]
    return [literal_of(text, oid_of(column.type), 0) for text, column in zip(texts, batch.columns, strict=True)]
