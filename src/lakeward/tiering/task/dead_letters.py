"""Rows that do not fit into the lake. They go to a table that the tiered table names, or they fail it.

Letters are in their table before the round that leaves them out is committed, under a key made of where the row was:
a round that is run again writes the same letter again, not a second one. So each such row is in the lake or among the
letters, and none is lost. A letter of a primary key table is a change that the lake has not followed.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.client.forms.damage import LeftOut
from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.rows.system_columns import BUCKET, OFFSET, SYSTEM_FIELDS
from lakeward.model.table import TableInfo
from lakeward.options.tiering import DEAD_LETTER_TABLE

#: More of them in one task are no accident; the table fails then.
LETTERS_MAX = 1000
#: A batch that nobody can decode is kept whole up to this size.
_BATCH_BYTES_MAX = 4 << 20
_SCHEMA = (
    "table_id BIGINT NOT NULL, partition_name STRING NOT NULL, row_bucket INT NOT NULL, row_offset BIGINT NOT NULL, "
    "row_digest STRING NOT NULL, table_name STRING, reason STRING, row_json STRING"
)
_SYSTEM = {f.name for f in SYSTEM_FIELDS}
_KEY = ["table_id", "partition_name", "row_bucket", "row_offset", "row_digest"]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One row, where it was, and why it did not fit."""

    partition_name: str
    row_bucket: int
    row_offset: int
    row_digest: str
    reason: str
    row_json: str


@dataclass(slots=True)
class LetterSorter:
    """Hands rows to a writer; those that do not fit become letters, or an error that names the first."""

    table: str
    partition: str | None
    takes_letters: bool
    letters: list[DeadLetter] = field(default_factory=list)

    def write(self, write: Callable[[pa.RecordBatch], None], rows: pa.RecordBatch) -> None:
        """Write rows, as many at once as fit."""
        try:
            write(rows)
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.INVALID_TARGET_COLUMN:
                raise
            if rows.num_rows > 1:
                half = rows.num_rows // 2
                self.write(write, rows.slice(0, half))
                self.write(write, rows.slice(half))
            else:
                self._put_aside(rows, wrong)

    def put_batches_aside(self, left_out: Sequence[LeftOut]) -> None:
        """Letters for what the log has and nobody can decode, as bytes, and for offsets that it does not have."""
        if not self.takes_letters:
            return
        for one in left_out:
            stored = one.data or b""
            told: dict[str, Any] = {"offsets": [one.start, one.stop - 1]}
            if stored:
                told |= {"batch_bytes": len(stored)}
            if 0 < len(stored) <= _BATCH_BYTES_MAX:
                told |= {"batch_base64": base64.b64encode(stored).decode()}
            digest = hashlib.sha256(stored).hexdigest()[:16]
            letter = DeadLetter(
                self.partition or "", one.bucket.bucket, one.start, digest, one.reason, json.dumps(told)
            )
            self.letters.append(letter)

    def _put_aside(self, row: pa.RecordBatch, why: LakewardError) -> None:
        bucket, offset = row[BUCKET][0].as_py(), row[OFFSET][0].as_py()
        where = f"{self.table}, bucket {bucket}" + (f" of {self.partition}" if self.partition else "")
        if not self.takes_letters:
            raise why.code.error(
                f"{where}, offset {offset}: {why.message} To put such rows aside, name a table in "
                f"'{DEAD_LETTER_TABLE.key}'."
            )
        if len(self.letters) >= LETTERS_MAX:
            raise why.code.error(f"{where}: more than {LETTERS_MAX:,} rows do not fit into the lake. {why.message}")
        own = {f.name: _value(row[f.name][0]) for f in row.schema if f.name not in _SYSTEM}
        text = json.dumps(own, default=_as_text, ensure_ascii=False)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        self.letters.append(DeadLetter(self.partition or "", bucket, offset, digest, why.message, text))


def deliver(conn: Connection, info: TableInfo, letters: Sequence[DeadLetter]) -> None:
    """Put letters into the table that a tiered table names; it is created if it is missing."""
    name = DEAD_LETTER_TABLE.read(info.descriptor.custom_properties)
    if not letters or name is None:
        return
    table = conn.create_table(name, _SCHEMA, primary_key=_KEY, bucket_by=_KEY[:1], buckets=1, exist_ok=True)
    table.upsert([{**asdict(one), "table_id": info.table_id, "table_name": str(info.path)} for one in letters])


def _value(found: pa.Scalar) -> Any:
    try:
        return found.as_py()
    except (OverflowError, ValueError):
        return found.value  # a time that Python cannot name, as the number it is stored as


def _as_text(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
