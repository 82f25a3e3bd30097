"""Prints docs/formats/batch.md from the layouts, so that the page cannot drift."""

from __future__ import annotations

import sys
from pathlib import Path

from lakeward.records.batch.batch_header import BATCH_V0, BATCH_V1, BATCH_V2
from lakeward.records.batch.kv_batch import KV_BATCH
from lakeward.records.batch.value_batch import VALUE_BATCH

PAGE = Path("docs/formats/batch.md")
_HEAD = """# Record batches

*Printed from `lakeward.records` by `make docs`.*

What is written, stored, sent and fetched is a record batch: a header and records. A log is a plain concatenation of
them. All integers are little-endian. The server stamps `base_offset` and `commit_timestamp_ms` and changes nothing
else; both stand before the CRC.

Records of a table with `table.log.format` ARROW (the default) are one Arrow record batch message without a schema
message; the schema is the table's, by `schema_id`. A batch that is not append-only has one byte per record before it,
saying what kind of change each is: `+A` 0, `+I` 1, `-U` 2, `+U` 3, `-D` 4. Records of INDEXED and COMPACTED tables are
`length: i32, change type: i8, row` each.
"""

_KV = """
## Kv batch: {size} bytes

What a PUT_KV carries for one bucket of a primary key table. It is not stored: the server appends a batch of changes to
the log instead. Records are `length: i32, key length: varint, key, row` each; a record without row deletes its key.

"""
_VALUES = """
## Value batch: {size} bytes

What scans of a primary key table answer. Records are `length: i32, schema id: i16, row` each.

"""


def page() -> str:
    """The page as it should be."""
    parts = [_HEAD]
    for number, layout in enumerate((BATCH_V0, BATCH_V1, BATCH_V2)):
        parts += [f"\n## Magic {number}: {layout.size} bytes\n\n", layout.markdown(), "\n"]
    parts.append(
        "\nStatistics (`table.statistics.columns`) stand between the header of magic 1 or 2 and the records.\n"
    )
    for text, layout in ((_KV, KV_BATCH), (_VALUES, VALUE_BATCH)):
        parts += [text.format(size=layout.size), layout.markdown(), "\n"]
    return "".join(parts)


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is up to date."""
    if "--check" in arguments:
        return 0 if PAGE.read_text() == page() else 1
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
