"""What a task must know of a table to write its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from lakeward.errors import ErrorCode
from lakeward.lake.files.s3_path import LakePath, lake_path
from lakeward.lake.paimon.schema.schema_file import PaimonSchema
from lakeward.lake.paimon.schema.types import SYSTEM_TYPES, file_field, needs_int96
from lakeward.lake.rows.parquet_dictionaries import dictionary_columns
from lakeward.model.data_types import BIGINT, TINYINT, DataType
from lakeward.model.table import TableInfo
from lakeward.options.kinds import SIZE

#: Of the rows of a primary key table: their order, and what happened to them.
SEQUENCE, KIND, KEY_PREFIX = "_SEQUENCE_NUMBER", "_VALUE_KIND", "_KEY_"
_SEQUENCE_ID, _KIND_ID, _KEY_ID = 2147483646, 2147483645, 1073741823
_TARGET = {True: 128 << 20, False: 256 << 20}
#: What we do not write, and the only value each of these options may have.
_ONLY = {
    "merge-engine": "deduplicate",
    "file.format": "parquet",
    "deletion-vectors.enabled": "false",
    "row-tracking.enabled": "false",
    "data-file.thin-mode": "false",
}
_CHANGELOGS = ("none", "input")
_NEVER = ("sequence.field", "data-file.external-paths", "data-file.path-directory")


@dataclass(frozen=True, slots=True)
class TableShape:
    """Directory, columns, keys and options of a table as its files are written. Travels to tasks."""

    directory: str
    schema_id: int
    columns: tuple[tuple[int, str, DataType], ...]
    partition_keys: tuple[str, ...]
    #: The primary key within a partition; empty for a log table.
    keys: tuple[str, ...]
    options: dict[str, str] = field(hash=False)
    #: How its bucket is reached, where it is in one.
    storage: dict[str, str] = field(hash=False, default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, directory: LakePath, schema: PaimonSchema, info: TableInfo, storage: Mapping[str, str] | None = None
    ) -> TableShape:
        """The shape of the lake's table for one of ours; refuses what we do not write."""
        _check_options(schema.options, info)
        types = dict(SYSTEM_TYPES) | {c.name: c.type for c in info.schema.columns}
        for f in schema.fields:
            if f.name not in types:
                raise ErrorCode.INVALID_TABLE.error(
                    f"The lake's table has a column '{f.name}', and {info.path} has none: another writer added it."
                )
        keys = info.descriptor.physical_primary_key if info.descriptor.has_primary_key else ()
        return cls(
            str(directory),
            schema.id,
            tuple((f.id, f.name, types[f.name]) for f in schema.fields),
            schema.partition_keys,
            keys,
            schema.options,
            dict(storage or {}),
        )

    @property
    def path(self) -> LakePath:
        """The table's directory."""
        return lake_path(self.directory, self.storage)

    @property
    def total_buckets(self) -> int:
        """As manifests count them: −1 where any row may lie in any file."""
        return int(self.options.get("bucket", "-1"))

    @property
    def target_bytes(self) -> int:
        """The size at which a file is closed and the next one begun."""
        text = self.options.get("target-file-size")
        return _TARGET[bool(self.keys)] if text is None else SIZE.parse(text)

    @property
    def writes_changelog(self) -> bool:
        """Whether each change is kept for readers of the table's changelog."""
        return bool(self.keys) and self.options.get("changelog-producer") == "input"

    def types_of(self, names: Sequence[str]) -> list[DataType]:
        """The types of these columns."""
        by_name = {name: type_ for _, name, type_ in self.columns}
        return [by_name[name] for name in names]

    def file_schema(self) -> pa.Schema:
        """The columns of a data file. In a deleted row, what is not part of the key may be missing."""
        if not self.keys:
            return pa.schema([file_field(*column) for column in self.columns])
        ids = {name: number for number, name, _ in self.columns}
        keys = [
            file_field(_KEY_ID + ids[name], KEY_PREFIX + name, type_.not_null())
            for name, type_ in zip(self.keys, self.types_of(self.keys), strict=True)
        ]
        keys.append(file_field(_SEQUENCE_ID, SEQUENCE, BIGINT().not_null()))
        keys.append(file_field(_KIND_ID, KIND, TINYINT().not_null()))
        return pa.schema(
            [*keys, *(file_field(i, n, t if n in self.keys else t.as_nullable()) for i, n, t in self.columns)]
        )

    def parquet_options(self) -> dict[str, object]:
        """How pyarrow is to write the files."""
        found: dict[str, object] = {
            "compression": self.options.get("file.compression", "zstd"),
            "store_decimal_as_integer": True,
            "store_schema": False,
            "use_dictionary": dictionary_columns(self.file_schema()) or False,
            "use_deprecated_int96_timestamps": needs_int96([type_ for _, _, type_ in self.columns]),
        }
        if found["compression"] == "zstd":
            found["compression_level"] = int(self.options.get("file.compression.zstd-level", "1"))
        return found


def _check_options(options: dict[str, str], info: TableInfo) -> None:
    wrong = {k: v for k, v in options.items() if k in _NEVER or _ONLY.get(k, v).lower() != v.lower()}
    if options.get("changelog-producer", "none") not in _CHANGELOGS:
        wrong["changelog-producer"] = options["changelog-producer"]
    if wrong:
        told = ", ".join(f"'{key}' = '{value}'" for key, value in wrong.items())
        raise ErrorCode.INVALID_TABLE.error(f"Tiering cannot write the lake's table of {info.path} with {told}.")
