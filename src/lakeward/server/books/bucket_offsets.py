"""The offsets of a lake snapshot of one table: the document is that of lake.offsets_document, bytes in a file here."""

from __future__ import annotations

from collections.abc import Mapping

from lakeward.errors import LakewardError
from lakeward.lake import offsets_document
from lakeward.model.bucket import TableBucket

BucketOffsets = Mapping[TableBucket, int]


def offsets_to_json(table_id: int, offsets: BucketOffsets, *, partitioned: bool) -> bytes:
    """The document, as it is written to a file."""
    return offsets_document.offsets_to_json(table_id, offsets, partitioned=partitioned).encode()


def offsets_of_json(data: bytes, table_id: int) -> dict[TableBucket, int]:
    """The known offsets in a document; ValueError when it is not one, or another table's."""
    try:
        found_id, offsets = offsets_document.table_offsets_of_json(data)
    except LakewardError as wrong:
        raise ValueError(f"it is not a document of offsets: {wrong.message}") from wrong
    if found_id != table_id:
        raise ValueError(f"it belongs to table {found_id}")
    return offsets
