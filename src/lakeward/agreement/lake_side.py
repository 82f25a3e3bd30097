"""LakeSide: the lake's half of a table for one comparison: a snapshot, how far it is, its files and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from lakeward.client.blocking.sync import Connection
from lakeward.client.blocking.sync_table import Table
from lakeward.client.forms.results import BucketId
from lakeward.lake.port import LakeFile, LakeReader
from lakeward.lake.rows.system_columns import SYSTEM_FIELDS
from lakeward.query.lake.cold_part import ColdPart, cold_part, open_reader
from lakeward.records.arrow.arrow_types import arrow_schema


class LakeSide:
    """The newest snapshot when this was opened; what is committed later is not seen."""

    def __init__(self, table: Table, reader: LakeReader, part: ColdPart) -> None:
        self._table = table
        self._reader = reader
        self._part = part
        self.snapshot_id = part.snapshot_id
        self.offsets: Mapping[BucketId, int] = part.offsets
        #: Whether the files of a bucket only make sense together.
        self.merges = part.merges

    @classmethod
    def open(cls, conn: Connection, table: Table, options: Mapping[str, str]) -> LakeSide | None:
        """None when nothing was tiered yet; LakeUnavailableError when the lake cannot be opened here."""
        reader = open_reader(table.info, options)
        known = [] if reader is None else reader.snapshots()
        if reader is None or not known:
            return None
        names = {p.id: p.name for p in table.partitions()} if table.info.descriptor.is_partitioned else {}
        return cls(table, reader, cold_part(conn, table.info, reader, known[0], (), names))

    @property
    def places(self) -> Mapping[BucketId, Sequence[LakeFile]]:
        """The files by the partition and bucket that they lie in; rows of a file may be of any bucket there."""
        return {id_: [placed.file for placed in files] for id_, files in self._part.files.items()}

    def rows(self, files: Sequence[LakeFile]) -> Iterator[pa.RecordBatch]:
        """The live rows of files of one place: the table's columns and the system columns."""
        own = arrow_schema(self._table.info.schema)
        schema = pa.schema([*own, *SYSTEM_FIELDS])
        try:
            yield from self._reader.rows(files, schema)
        except (OSError, pa.ArrowException, ValueError) as wrong:
            raise UnreadableFileError(_file_in(files, wrong), wrong) from wrong

    def bucket_rows(self, id_: BucketId) -> Iterator[tuple[str | None, pa.RecordBatch]]:
        """The rows of a place, and the file they come from where it is one."""
        files = self.places.get(id_, ())
        for some in [list(files)] if self.merges and files else [[file] for file in files]:
            for batch in self.rows(some):
                yield some[0].path if len(some) == 1 else None, batch


class UnreadableFileError(Exception):
    """A file of the lake that is not there, or is damaged."""

    def __init__(self, file: str, why: Any) -> None:
        super().__init__(str(why))
        self.file = file


def _file_in(files: Sequence[LakeFile], wrong: Exception) -> str:
    """The file that an error is about, as far as it can be known."""
    told = str(wrong)
    return next((f.path for f in files if f.path in told or f.path.rpartition("/")[2] in told), files[0].path)
