"""TablePath, TableDescriptor and TableInfo: what a table is called, what was asked for, what exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lakeward.errors import ErrorCode
from lakeward.model import names
from lakeward.model.schema import Schema


@dataclass(frozen=True, slots=True, order=True)
class TablePath:
    """A table's full name."""

    database: str
    table: str

    @classmethod
    def parse(cls, text: str, default_database: str = "fluss") -> TablePath:
        """`db.table`, or `table` in the default database."""
        database, dot, table = text.partition(".")
        return cls(database, table) if dot else cls(default_database, text)

    def check(self) -> None:
        """Refuse illegal names."""
        names.check_database(self.database)
        names.check_table(self.table)

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


@dataclass(frozen=True)
class TableDescriptor:
    """What a table is to be: schema, keys, buckets, properties."""

    schema: Schema
    partition_keys: tuple[str, ...] = ()
    bucket_keys: tuple[str, ...] = ()
    bucket_count: int | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    custom_properties: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None

    @property
    def has_primary_key(self) -> bool:
        """Whether rows are found and replaced by key."""
        return bool(self.schema.primary_key)

    @property
    def is_partitioned(self) -> bool:
        """Whether rows are spread over partitions by column values."""
        return bool(self.partition_keys)

    @property
    def physical_primary_key(self) -> tuple[str, ...]:
        """The primary key within one partition."""
        return tuple(k for k in self.schema.primary_key if k not in self.partition_keys)

    def normalize(self) -> TableDescriptor:
        """With the bucket key filled in; refuses keys that do not fit together."""
        columns = set(self.schema.names)
        for key in self.partition_keys:
            if key not in columns:
                raise ErrorCode.INVALID_TABLE.error(f"Partition key '{key}' is not a column of the table.")
        if self.has_primary_key and not set(self.partition_keys) <= set(self.schema.primary_key):
            raise ErrorCode.INVALID_TABLE.error(
                f"Partition keys {list(self.partition_keys)} must be part of the primary key "
                f"{list(self.schema.primary_key)}."
            )
        bucket_keys = self.bucket_keys
        if self.has_primary_key and not bucket_keys:
            bucket_keys = self.physical_primary_key
            if not bucket_keys:
                raise ErrorCode.INVALID_TABLE.error("The primary key needs a column that is not a partition key.")
        for key in bucket_keys:
            if key not in columns:
                raise ErrorCode.INVALID_TABLE.error(f"Bucket key '{key}' is not a column of the table.")
            if key in self.partition_keys:
                raise ErrorCode.INVALID_TABLE.error(
                    f"Bucket key '{key}' is a partition key; it can be only one of them."
                )
            if self.has_primary_key and key not in self.schema.primary_key:
                raise ErrorCode.INVALID_TABLE.error(f"Bucket key '{key}' must be part of the primary key.")
        return replace(self, bucket_keys=bucket_keys)


@dataclass(frozen=True)
class TableInfo:
    """A table that exists. `descriptor.schema` is its latest schema, numbered `schema_id`."""

    path: TablePath
    table_id: int
    schema_id: int
    descriptor: TableDescriptor
    created_ms: int
    modified_ms: int

    @property
    def schema(self) -> Schema:
        """The latest schema."""
        return self.descriptor.schema

    @property
    def bucket_count(self) -> int:
        """How many buckets the table, or each of its partitions, has."""
        assert self.descriptor.bucket_count is not None
        return self.descriptor.bucket_count
