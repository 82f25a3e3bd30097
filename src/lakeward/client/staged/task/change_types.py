"""A column that says what each row is: put, deleted, or of no interest."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from lakeward.errors import ErrorCode

_PUTS = ["+I", "+U", "INSERT", "UPDATE_AFTER", "I", "U"]
_DELETES = ["-D", "DELETE", "D"]
_LEFT_OUT = ["-U", "UPDATE_BEFORE"]
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_null)
_KNOWN = pa.array(_PUTS + _DELETES + _LEFT_OUT)


def split_by_change(rows: pa.RecordBatch, column: str) -> tuple[pa.RecordBatch, pa.Array]:
    """The rows without that column and without old images, and which of them are to be put; the rest are deletes."""
    place = rows.schema.get_field_index(column)
    if place < 0:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"The data has no column '{column}' that would say the change type; its columns are "
            f"{', '.join(rows.schema.names)}."
        )
    kinds = rows.column(place)
    if not any(is_text(kinds.type) for is_text in _TEXTS):
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"Column '{column}' says the change type, so it must hold text such as '+I' or '-D', not {kinds.type}."
        )
    kinds = pc.utf8_upper(kinds.cast(pa.string()))
    known = pc.is_in(kinds, value_set=_KNOWN)
    if not pc.all(known, min_count=0).as_py():
        strange = kinds.filter(pc.invert(known))[0].as_py()
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"Column '{column}' holds {strange!r}, which is no change type; write +I, +U, -U, -D, or insert, "
            "update_after, update_before, delete."
        )
    rows = rows.remove_column(place)
    wanted = pc.invert(pc.is_in(kinds, value_set=pa.array(_LEFT_OUT)))
    is_put = pc.is_in(kinds, value_set=pa.array(_PUTS))
    if not pc.all(wanted, min_count=0).as_py():
        return rows.filter(wanted), is_put.filter(wanted)
    return rows, is_put
