"""Tables and rows for tests of lake formats, and readers that we did not write."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from seaweed import Bucket

from lakeward.lake.files.blocking_store import blocking_store
from lakeward.lake.port import LakeFormat, LakePlace, LakeSnapshot, LakeTable
from lakeward.lake.round_properties import RoundProperties
from lakeward.lake.rows.system_columns import CHANGE_FIELD, SYSTEM_FIELDS
from lakeward.model.bucket import TableBucket
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableDescriptor, TableInfo, TablePath
from lakeward.model.type_text import parse_type
from lakeward.records.arrow.arrow_types import arrow_schema

TABLE_ID = 7
CHANGES = {"+A": 0, "+I": 1, "+U": 3, "-D": 4}


def table_info(
    columns: Mapping[str, str], *, key: str = "", partitions: Sequence[str] = (), buckets: int = 2
) -> TableInfo:
    """A table with columns as SQL writes them."""
    schema = Schema.of([Column(name, parse_type(text)) for name, text in columns.items()], [key] if key else [])
    descriptor = TableDescriptor(schema, tuple(partitions), bucket_count=buckets).normalize()
    return TableInfo(TablePath("shop", "orders"), TABLE_ID, 1, descriptor, 0, 0)


def made_for(lake_format: str, info: TableInfo) -> TableInfo:
    """The table as if it had been created with a lake format, by whose hash its buckets then are."""
    properties = {**info.descriptor.properties, "table.datalake.format": lake_format}
    return replace(info, descriptor=replace(info.descriptor, properties=properties))


def lake_rows(info: TableInfo, bucket: int, first: int, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Rows as tiering hands them over; `_` in a row is its change, `+A` or `+I` if there is none."""
    count, keyed = len(rows), info.descriptor.has_primary_key
    own = arrow_schema(info.schema)
    columns = [pa.array([row.get(f.name) for row in rows], f.type) for f in own]
    columns += [
        pa.array(np.full(count, bucket, np.int32)),
        pa.array(np.arange(first, first + count)),
        pa.array(np.full(count, 1_700_000_000_000_000), pa.timestamp("us", "UTC")),
    ]
    fields = [*own, *SYSTEM_FIELDS]
    if keyed:
        columns.append(pa.array([CHANGES[row.get("_", "+I")] for row in rows], pa.int8()))
        fields.append(CHANGE_FIELD)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


@dataclass(frozen=True)
class S3Warehouse:
    """A warehouse in a bucket, and how it is reached."""

    bucket: Bucket
    folder: str = "lake"

    def __str__(self) -> str:
        return f"s3://{self.bucket.name}/{self.folder}"

    @property
    def properties(self) -> dict[str, str]:
        """By the names of remote storage."""
        return {"warehouse": str(self), **self.bucket.settings}

    def rglob(self, pattern: str) -> list[str]:
        """The files below it."""
        found = blocking_store(f"s3://{self.bucket.name}", self.bucket.settings).list(self.folder)
        return [o.path for o in found if fnmatch.fnmatch(o.path.rpartition("/")[2], pattern)]


Home = Path | S3Warehouse


class Rounds:
    """A lake table that is written round by round."""

    def __init__(self, format_: LakeFormat, warehouse: Home, info: TableInfo) -> None:
        self.format = format_
        self.warehouse = warehouse
        self.info = info = made_for(format_.name, info)
        self.catalog = format_.catalog(
            warehouse.properties if isinstance(warehouse, S3Warehouse) else {"warehouse": str(warehouse)}
        )
        self.table: LakeTable = self.catalog.ensure(info)
        self.offsets: dict[TableBucket, int] = {}
        self.epoch = 0

    def write(self, rows: Mapping[LakePlace, Sequence[Mapping[str, Any]]]) -> list[bytes]:
        """The files of a round, not committed."""
        places = list(rows)
        written = []
        for place, writing in zip(places, self.table.writing(places), strict=True):
            writer = self.format.writer(writing, place)
            bucket = TableBucket(TABLE_ID, None, place.bucket)
            first = self.offsets.get(bucket, 0)
            writer.write(lake_rows(self.info, place.bucket, first, rows[place]))
            written.append(writer.finish().record)
            self.offsets[bucket] = first + len(rows[place])
        return written

    def commit(self, written: list[bytes]) -> LakeSnapshot:
        """One more round."""
        self.epoch += 1
        known = self.table.latest()
        return self.table.commit(
            written,
            RoundProperties(TABLE_ID, dict(self.offsets), self.epoch),
            None if known is None else known.snapshot_id,
        )

    def round(self, rows: Mapping[LakePlace, Sequence[Mapping[str, Any]]]) -> LakeSnapshot:
        """Write and commit."""
        return self.commit(self.write(rows))


def read_by_pyiceberg(warehouse: Home, name: str = "shop.orders") -> list[dict[str, Any]]:
    """What the Python reader of Iceberg sees."""
    return pyiceberg_table(warehouse, name).scan().to_arrow().to_pylist()


def pyiceberg_table(warehouse: Home, name: str = "shop.orders") -> Any:
    """The table, opened as any user of pyiceberg would."""
    from pyiceberg.catalog import load_catalog
    from pyiceberg.table import StaticTable

    if isinstance(warehouse, S3Warehouse):
        bucket = warehouse.bucket
        return StaticTable.from_metadata(  # finds the newest version by the hint
            f"{warehouse}/{name.replace('.', '/')}",
            {
                "s3.endpoint": bucket.endpoint,
                "s3.access-key-id": bucket.access_key,
                "s3.secret-access-key": bucket.secret_key,
                "s3.region": "us-east-1",
            },
        )
    return load_catalog("lakeward", type="sql", uri=f"sqlite:///{warehouse}/catalog.db").load_table(name)


def read_by_duckdb(warehouse: Home, name: str = "shop.orders") -> list[dict[str, Any]]:
    """What DuckDB sees of an Iceberg table, in a bucket too."""
    import duckdb
    import duckdb_extensions

    for extension in ("avro", "iceberg", "httpfs"):
        duckdb_extensions.import_extension(extension)
    with duckdb.connect() as con:
        con.execute("LOAD avro; LOAD iceberg")
        if isinstance(warehouse, S3Warehouse):
            bucket = warehouse.bucket
            con.execute("LOAD httpfs")
            con.execute(
                f"CREATE SECRET (TYPE s3, KEY_ID '{bucket.access_key}', SECRET '{bucket.secret_key}', "
                f"ENDPOINT '{bucket.endpoint.removeprefix('http://')}', URL_STYLE 'path', USE_SSL false)"
            )
            where = f"{warehouse}/{name.replace('.', '/')}"
        else:
            where = pyiceberg_table(warehouse, name).metadata_location
        return con.execute(f"SELECT * FROM iceberg_scan('{where}')").to_arrow_table().to_pylist()
