"""Rows about the catalog in the types that Postgres has for them."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.sql_server.postgres.codec.pg_types import INT2VECTOR, RECEIVERS, REGPROC, SHOWN_AS
from lakeward.sql_server.postgres.pg_catalog.tables import VECTOR

_OIDS = pa.list_(pa.int64())
#: Columns of numbers that Postgres shows as names of functions.
_PROCEDURES = {"typreceive", "typsend"}


def as_postgres(rows: pa.Table) -> pa.Table:
    """Lists of numbers as lists of oids, or as `1 2` where they are vectors; functions by their names."""
    for at, field in enumerate(rows.schema):
        column, shown = rows.column(at), None
        if field.type == _OIDS:  # asyncpg would ask what another kind of list is, and again
            column = column.cast(pa.list_(pa.uint32()))
        elif field.type == VECTOR:
            column, shown = pc.binary_join(column.cast(pa.list_(pa.string())), " "), INT2VECTOR
        elif field.name in _PROCEDURES and field.type == pa.int64():
            numbers = pa.array(RECEIVERS, pa.int64())
            column = pa.array(list(RECEIVERS.values())).take(pc.index_in(column.combine_chunks(), numbers))
            shown = REGPROC
        else:
            continue
        metadata = None if shown is None else {SHOWN_AS: str(shown).encode()}
        rows = rows.set_column(at, pa.field(field.name, column.type, metadata=metadata), column)
    return rows
