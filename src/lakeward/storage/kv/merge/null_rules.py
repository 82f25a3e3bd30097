"""Which columns of a row must not be NULL: those of the primary key and those declared NOT NULL.

Both row formats begin with a bit for each column, lowest bit first, set for NULL; the rule needs no more than these.
Refusals are INVALID_TARGET_COLUMN: the writer's row is at fault and the same row will never do, while CORRUPT_RECORD,
the other candidate, tells clients to send it again, and they do so for ever.
"""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath


def required_columns(schema: Schema) -> int:
    """A bit for each column that must not be NULL, lowest bit first."""
    return sum(1 << i for i, c in enumerate(schema.columns) if not c.type.nullable or c.name in schema.primary_key)


def null_error(table: TablePath, schema: Schema, nulls: int) -> LakewardError:
    """The error for a row that is NULL where it must not be; a bit of `nulls` is set for each such column."""
    name = schema.names[(nulls & -nulls).bit_length() - 1]
    which = "is part of the primary key" if name in schema.primary_key else "is NOT NULL"
    return ErrorCode.INVALID_TARGET_COLUMN.error(
        f"A row for table {table} has NULL in column '{name}', which {which}; nothing of this batch was written."
    )


def unreadable_row(table: TablePath, schema_id: int, why: object) -> LakewardError:
    """The error for a row that cannot be read with the schema it claims to have."""
    return ErrorCode.INVALID_TARGET_COLUMN.error(
        f"A row for table {table} is not one of its schema {schema_id}: {why}. Nothing of this batch was written;"
        " write rows with the columns and the format (table.kv.format) of the table."
    )
