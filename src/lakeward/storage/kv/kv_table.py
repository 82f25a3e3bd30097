"""KvTable: what a primary key table's definition says about its state and its changelog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.options import table as rows
from lakeward.records.key.key_encoding import KeyEncoding, primary_key_encoding

SchemaOf = Callable[[int], Schema | None]


@dataclass(frozen=True)
class KvTable:
    """A primary key table at one moment. `types` are those of its latest schema."""

    info: TableInfo
    types: tuple[DataType, ...]
    key_positions: tuple[int, ...]
    key_encoding: KeyEncoding
    kv_format: str
    log_format: str
    image: str
    compression: str
    compression_level: int
    schema_of: SchemaOf

    @classmethod
    def of(cls, info: TableInfo, schema_of: SchemaOf) -> KvTable:
        """Read a table's definition."""
        properties = info.descriptor.properties
        descriptor = info.descriptor
        physical = descriptor.physical_primary_key
        lake = rows.LAKE_FORMAT.read(properties)
        encoding = primary_key_encoding(
            lake,
            rows.KV_FORMAT_VERSION.read(properties),
            has_default_bucket_key=tuple(descriptor.bucket_keys) == physical,
        )
        return cls(
            info=info,
            types=tuple(column.type for column in info.schema.columns),
            key_positions=tuple(info.schema.positions[name] for name in physical),
            key_encoding=encoding,
            kv_format=rows.KV_FORMAT.read(properties).upper(),
            log_format=rows.LOG_FORMAT.read(properties).upper(),
            image=rows.CHANGELOG_IMAGE.read(properties).upper(),
            compression=rows.LOG_COMPRESSION.read(properties),
            compression_level=rows.LOG_ZSTD_LEVEL.read(properties),
            schema_of=schema_of,
        )

    @property
    def merges(self) -> bool:
        """Whether old and new rows meet in a merge engine, or rows are numbered."""
        engine = rows.MERGE_ENGINE.read(self.info.descriptor.properties)
        return engine is not None or bool(self.info.schema.auto_increment)

    @property
    def compacts_log(self) -> bool:
        """Whether closed segments keep only the last change of each key."""
        return rows.LOG_COMPACTION.read(self.info.descriptor.properties)

    @property
    def schema_id(self) -> int:
        """The latest schema's id."""
        return self.info.schema_id

    def schema(self, schema_id: int) -> Schema:
        """A schema the table has or had."""
        schema = self.schema_of(schema_id) if 0 < schema_id <= self.schema_id else None
        if schema is None:
            raise ErrorCode.SCHEMA_NOT_EXIST.error(
                f"Table {self.info.path} has schemas 1 to {self.schema_id}; the batch was written with {schema_id}."
            )
        return schema
