"""Rows → Parquet files of one place, rolled by size, each with its entry for a manifest. Runs in a task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lakeward.lake.files import whole_files
from lakeward.lake.files.s3_path import LakePath
from lakeward.lake.paimon.manifest.manifests import ADDED, FileEntry
from lakeward.lake.paimon.schema.binary_row import EMPTY, of_arrow, to_binary
from lakeward.lake.paimon.schema.shape import KEY_PREFIX, KIND, SEQUENCE, TableShape
from lakeward.lake.paimon.write.value_bounds import value_bounds
from lakeward.lake.rows.parquet_codecs import with_codecs
from lakeward.lake.rows.parquet_dictionaries import with_dictionaries
from lakeward.lake.rows.system_columns import OFFSET
from lakeward.runtime.clock import SystemClock
from lakeward.runtime.entropy import SystemEntropy

DATA, CHANGELOG = "data", "changelog"
ROW_GROUP_ROWS = 1 << 20
_TAKES_AWAY = (1, 3)
_NO_BOUNDS = {"_MIN_VALUES": EMPTY, "_MAX_VALUES": EMPTY, "_NULL_COUNTS": []}


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A bucket of a partition: where its files lie, and what their entries say of it."""

    directory: LakePath
    partition: bytes
    bucket: int


class ParquetFiles:
    """Files of one place that are written one after the other. Rows of a primary key table come sorted by key."""

    def __init__(
        self, shape: TableShape, place: FilePlace, prefix: str = DATA, level: int = 0, *, is_merged: bool = False
    ) -> None:
        self._shape = shape
        self._place = place
        self._prefix = f"{prefix}-{SystemEntropy().uuid()}"
        self._level = level
        self._source = 1 if level or is_merged else 0
        self._schema = shape.file_schema()
        self._options = shape.parquet_options()
        self._open: _OpenFile | None = None
        self._paths: list[LakePath] = []
        self.entries: list[FileEntry] = []

    def write(self, rows: pa.Table) -> None:
        """Add row groups; a file that is large enough is closed."""
        for start in range(0, rows.num_rows, ROW_GROUP_ROWS):
            part = rows.slice(start, ROW_GROUP_ROWS)
            if self._open is None:
                options = with_codecs(with_dictionaries(self._options, part), part)
                self._open = _OpenFile(self._new_path(), self._schema, options, bool(self._shape.keys))
            self._open.write(part)
            if self._open.bytes >= self._shape.target_bytes:
                self.close()

    def copy(self, entry: FileEntry, prefix: str) -> FileEntry:
        """A second file with the same rows under another name."""
        path = self._new_path(f"{prefix}-{SystemEntropy().uuid()}")
        whole_files.copy(self._place.directory / entry.name, path)
        return FileEntry(
            entry.kind, entry.partition, entry.bucket, entry.total_buckets, entry.file | {"_FILE_NAME": path.name}
        )

    def close(self) -> None:
        """End the file that is open; its entry is the last of `entries`."""
        if self._open is None:
            return
        opened, self._open = self._open, None
        footer, size = opened.close()
        self.entries.append(self._entry(opened, footer, size))

    def abort(self) -> None:
        """Remove what was written."""
        if self._open is not None:
            self._open.abandon()
            self._open = None
        for path in self._paths:
            path.unlink(missing_ok=True)

    def _new_path(self, prefix: str | None = None) -> LakePath:
        self._place.directory.mkdir(parents=True, exist_ok=True)
        path = self._place.directory / f"{prefix or self._prefix}-{len(self._paths)}.parquet"
        self._paths.append(path)
        return path

    def _entry(self, opened: _OpenFile, footer: Any, size: int) -> FileEntry:
        shape = self._shape
        names, bounds = value_bounds(shape, footer)
        file = {
            "_FILE_NAME": opened.path.name,
            "_FILE_SIZE": size,
            "_ROW_COUNT": footer.num_rows,
            **opened.key_bounds(shape),
            "_VALUE_STATS": bounds,
            "_MIN_SEQUENCE_NUMBER": opened.first,
            "_MAX_SEQUENCE_NUMBER": opened.last,
            "_SCHEMA_ID": shape.schema_id,
            "_LEVEL": self._level,
            "_EXTRA_FILES": [],
            "_CREATION_TIME": SystemClock().now_ms(),
            "_DELETE_ROW_COUNT": opened.deletes,
            "_EMBEDDED_FILE_INDEX": None,
            "_FILE_SOURCE": self._source,
            "_VALUE_STATS_COLS": names,
            "_EXTERNAL_PATH": None,
            "_FIRST_ROW_ID": None,
            "_WRITE_COLS": None,
        }
        return FileEntry(ADDED, self._place.partition, self._place.bucket, shape.total_buckets, file)


class _OpenFile:
    """One Parquet file that is being written, and what its entry will say of its rows."""

    def __init__(self, path: LakePath, schema: pa.Schema, options: dict[str, object], keyed: bool) -> None:
        self.path = path
        self._keyed = keyed
        self._keys: list[pa.Table] = []
        self._key_names = [n for n in schema.names if n.startswith(KEY_PREFIX)] if keyed else []
        self.first = self.last = self.deletes = 0
        self._rows = 0
        self._output = whole_files.Output(path)
        self._writer = pq.ParquetWriter(self._output.stream, schema, **options)

    @property
    def bytes(self) -> int:
        """Bytes written so far."""
        return int(self._output.stream.tell())

    def write(self, rows: pa.Table) -> None:
        """One row group."""
        self._writer.write_table(rows, row_group_size=rows.num_rows)
        order = pc.min_max(rows[SEQUENCE if self._keyed else OFFSET])
        first, last = order["min"].as_py(), order["max"].as_py()
        self.first, self.last = (min(self.first, first), max(self.last, last)) if self._rows else (first, last)
        self._rows += rows.num_rows
        if self._keyed:
            self._keys.append(rows.select(self._key_names))
            self.deletes += pc.sum(pc.is_in(rows[KIND], pa.array(_TAKES_AWAY, pa.int8()))).as_py()

    def close(self) -> tuple[Any, int]:
        """The file's footer and its size."""
        self._writer.close()
        size = self.bytes
        self._output.close()
        return self._writer.writer.metadata, size

    def abandon(self) -> None:
        """Give up; the file is removed by who owns it."""
        self._writer.close()
        self._output.abandon()

    def key_bounds(self, shape: TableShape) -> dict[str, Any]:
        """The first and the last key of the file, and the bounds of each key column."""
        if not self._keyed:
            return {"_MIN_KEY": EMPTY, "_MAX_KEY": EMPTY, "_KEY_STATS": _NO_BOUNDS}
        types = shape.types_of(shape.keys)

        def row(values: Sequence[Any]) -> bytes:
            return to_binary(types, [of_arrow(t, v) for t, v in zip(types, values, strict=True)])

        keys = pa.concat_tables(self._keys)
        bounds = [pc.min_max(column) for column in keys.columns]
        return {
            "_MIN_KEY": row([c[0] for c in keys.columns]),
            "_MAX_KEY": row([c[-1] for c in keys.columns]),
            "_KEY_STATS": {
                "_MIN_VALUES": row([b["min"] for b in bounds]),
                "_MAX_VALUES": row([b["max"] for b in bounds]),
                "_NULL_COUNTS": [0] * len(types),
            },
        }
