"""A KvTablet in a directory, with rows instead of bytes, that can be closed, crashed, torn and opened again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from failing_files import FailingFiles
from kv_model import Key, Record, Row
from logs import open_log

from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.records.batch.changelog_batch import changelog_rows
from lakeward.records.batch.kv_batch import build_kv_batch, parse_kv_batch
from lakeward.records.batch.log_batch import walk_batches
from lakeward.records.columnar.row_kernels import RowForm
from lakeward.records.kernels.spans import Spans
from lakeward.records.key.key_encoding import KeyEncoding, key_encoder
from lakeward.records.row import compacted_row, indexed_row
from lakeward.records.row.row_codec import RowCodec
from lakeward.runtime.files.local_files import LocalFiles
from lakeward.storage.disk.open_files import OpenFiles
from lakeward.storage.kv.kv_table import KvTable
from lakeward.storage.kv.kv_tablet import KvTablet
from lakeward.storage.kv.recovery import Recovery
from lakeward.storage.kv.store.slices import Slices
from lakeward.storage.log.log_facts import read_facts

WRITER = 7
_KINDS = ("+A", "+I", "-U", "+U", "-D")


@dataclass
class TabletUnderTest:
    """One bucket of a table; `engine` may be another one after each restart."""

    directory: Path
    schema: Schema
    properties: dict[str, str]
    engine: str = "hash"
    segment_bytes: int = 1 << 20
    jobs: list[Callable[[], None]] = field(default_factory=list)
    disk: FailingFiles = field(default_factory=FailingFiles)
    next_sequence: int = 0

    def __post_init__(self) -> None:
        """The table's first schema has the id 1."""
        self.schemas = {1: self.schema}
        self.table = self._table()
        self.open()

    # -- life

    def open(self) -> None:
        """Open it, from whatever is on disk."""
        self.log = open_log(
            self.directory / "log",
            files=OpenFiles(self.disk, 64),
            checkpoints=False,
            segment_bytes_max=self.segment_bytes,
            ttl_ms=1,
            delete_delay_ms=0,
        )
        self.log._later = self.jobs.append
        kv_directory = self.directory / "kv"
        recovered = Recovery(kv_directory, self.log, self.table, self.engine).run()
        self.kv = KvTablet(kv_directory, self.log, lambda: self.table, recovered, self.jobs.append, lambda _: 0)

    def run_jobs(self) -> list[Exception]:
        """Do what was put off for the disk thread; returns what failed."""
        failures: list[Exception] = []
        while self.jobs:
            try:
                self.jobs.pop(0)()
            except Exception as wrong:  # noqa: BLE001 - the disk thread lives on too
                failures.append(wrong)
        return failures

    def stop(self) -> None:
        """Close it as a server does that is asked to stop."""
        self.run_jobs()
        self.kv.close()
        self.log.close()

    def crash(self) -> None:
        """Lose everything that is not in a file: memory, and work that was put off."""
        self.jobs.clear()
        self.kv.close()
        self.log.abandon()

    def tear(self, size: int) -> bool:
        """After a crash, cut bytes off the end of the log, if the last batch was not promised to be on disk."""
        segment = self.log._segments[-1] if self.log._segments else None
        if segment is None or not self.log.is_dirty or segment.size == 0:
            return False
        os.truncate(segment.path, max(segment.size - size, self._last_batch_at()))
        facts = read_facts(LocalFiles(), self.log.directory)
        if facts is not None:  # only a power cut takes rows that were answered
            replace(facts, seen_boot="before").write(LocalFiles(), self.log.directory)
        return True

    def _last_batch_at(self) -> int:
        return max(span.start for span in walk_batches(self.log._segments[-1].path.read_bytes()))

    # -- rows

    def add_column(self, column: Column) -> None:
        """Give the table a new schema."""
        latest = max(self.schemas)
        self.schemas[latest + 1] = self.schemas[latest].add_column(column)
        self.table = self._table()

    def _table(self) -> KvTable:
        latest = max(self.schemas)
        descriptor = TableDescriptor(self.schemas[latest], bucket_count=1, properties=self.properties)
        info = TableInfo(TablePath("shop", "orders"), 7, latest, descriptor, 0, 0)
        return KvTable.of(info, self.schemas.get)

    def put(
        self,
        records: Sequence[Record],
        targets: Sequence[int] = (),
        *,
        schema_id: int | None = None,
        overwrite: bool = False,
        now_ms: int = 0,
    ) -> int:
        """Write a batch as the next one of the only writer; returns the offset after it."""
        schema_id = schema_id or max(self.schemas)
        codec = self._codec(schema_id)
        keys = Spans.of([self.key(key) for key, _ in records])
        rows = Spans.of([b"" if row is None else codec.encode(row) for _, row in records])
        batch = parse_kv_batch(build_kv_batch(schema_id, keys, rows, WRITER, self.next_sequence))
        end = self.kv.put(batch, tuple(targets), now_ms, overwrite=overwrite)
        self.next_sequence += 1
        return end

    def key(self, cells: Key) -> bytes:
        """The bytes of a key, or of the first columns of one."""
        columns = self.schema.columns[: len(cells)]
        return key_encoder(KeyEncoding.COMPACTED, tuple(c.type for c in columns))(cells)

    def _codec(self, schema_id: int, form: str | None = None) -> RowCodec:
        types = tuple(c.type for c in self.schemas[schema_id].columns)
        indexed = (form or self.table.kv_format) == "INDEXED"
        return indexed_row.codec(types) if indexed else compacted_row.codec(types)

    def row(self, value: bytes) -> Row:
        """A stored value as a row of the latest schema."""
        return self._padded(self._codec(int.from_bytes(value[:2], "little")).decode(value[2:]))

    def _padded(self, cells: Sequence[object]) -> Row:
        width = len(self.schemas[max(self.schemas)].columns)
        return (*cells, *(None,) * (width - len(cells)))

    def get(self, keys: Sequence[Key]) -> list[Row | None]:
        """Look keys up."""
        found = self.kv.get(Slices.of([self.key(key) for key in keys])).to_list()
        return [None if value is None else self.row(value) for value in found]

    def rows(self, prefix: Key | None = None) -> list[Row]:
        """All rows in key order, or those whose key begins so."""
        found = self.kv.scan(1 << 20) if prefix is None else self.kv.scan_prefix(self.key(prefix))
        return [self.row(value) for _, value in found.to_list()]

    def changelog(self) -> list[tuple[int, str, Row]]:
        """Every change that the log still has: offset, kind, row."""
        found: list[tuple[int, str, Row]] = []
        offset = self.log.start_offset
        while offset < self.log.end_offset:
            read = self.log.read(offset, 1 << 20, at_least_one=True)
            for span in walk_batches(read.data):
                offset = span.header.base_offset
                found += self._changes(read.data[span.start : span.end], offset, span.header.schema_id)
                offset = span.header.last_offset + 1
        return found

    def _changes(self, batch: memoryview, offset: int, schema_id: int) -> Iterator[tuple[int, str, Row]]:
        types = [c.type for c in self.schemas[schema_id].columns]
        positions = self.table.key_positions
        read = changelog_rows(batch, types, positions, log_format=self.table.log_format, form=RowForm.COMPACTED)
        codec = self._codec(schema_id, "COMPACTED")
        buffer, starts, ends = read.rows.in_one_buffer()
        for i, kind in enumerate(read.change_types):
            yield offset + i, _KINDS[kind], self._padded(codec.decode(bytes(buffer[starts[i] : ends[i]])))
