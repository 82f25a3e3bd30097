"""The official client, held by one test: what the tests ask of it again and again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from typing import Any, Self

import fluss
import pyarrow as pa

EARLIEST, LATEST = fluss.OffsetSpec.earliest(), fluss.OffsetSpec.latest()
BEGINNING = fluss.EARLIEST_OFFSET


class Session:
    """A connection of pyfluss and a database to play in."""

    def __init__(self, connection: fluss.FlussConnection, database: str, bootstrap: str) -> None:
        self.connection = connection
        self.bootstrap = bootstrap
        self.admin = connection.get_admin()
        self.database = database

    @classmethod
    async def open(cls, bootstrap: str, database: str, **options: str) -> Session:
        """Connect; keywords are client options, `_` for `-` and `__` for `.`."""
        settings = {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
        config = fluss.Config({"bootstrap.servers": bootstrap} | settings)
        return cls(await fluss.FlussConnection.create(config), database, bootstrap)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.connection.close()

    def path(self, table: str) -> fluss.TablePath:
        """The full name of a table."""
        return fluss.TablePath(self.database, table)

    async def create(self, name: str, schema: pa.Schema, **descriptor: Any) -> fluss.FlussTable:
        """Create a table and wait until it can be written to."""
        descriptor = {"bucket_count": 1} | descriptor
        await self.admin.create_table(self.path(name), fluss.TableDescriptor(fluss.Schema(schema), **descriptor))
        if not descriptor.get("partition_keys"):
            await self.ready(name, descriptor["bucket_count"])
        elif "LAKEWARD_TEST_BOOTSTRAP" in os.environ:
            # Apache Fluss 0.9.1 elects no leader any more, for no table, once a partition was created before its
            # coordinator had taken note of the table.
            await asyncio.sleep(1)
        return await self.table(name)

    async def ready(self, name: str, buckets: int = 1) -> None:
        """Wait for leaders, which a cluster of several processes elects a moment later."""
        while True:
            try:
                await self.admin.list_offsets(self.path(name), list(range(buckets)), LATEST)
            except fluss.FlussError as early:
                if early.error_code not in {-2, 12, 21}:
                    raise
                await asyncio.sleep(0.05)
            else:
                return

    async def partition_ready(self, name: str, partition: str, buckets: int = 1) -> None:
        """The same for a partition."""
        while True:
            try:
                await self.admin.list_partition_offsets(self.path(name), partition, list(range(buckets)), LATEST)
            except fluss.FlussError as early:
                if early.error_code not in {-2, 12, 21, 36}:
                    raise
                await asyncio.sleep(0.05)
            else:
                return

    async def table(self, name: str) -> fluss.FlussTable:
        """A table that exists."""
        return await self.connection.get_table(self.path(name))

    async def partitions(self, name: str, **only: str) -> dict[str, int]:
        """Names and ids of a table's partitions."""
        found = await self.admin.list_partition_infos(self.path(name), only or None)
        return {partition.partition_name: partition.partition_id for partition in found}


async def append(table: fluss.FlussTable, *batches: pa.RecordBatch) -> None:
    """Write Arrow batches and wait until they are acknowledged."""
    writer = table.new_append().create_writer()
    for batch in batches:
        writer.write_arrow_batch(batch)
    await writer.flush()


async def scan(
    table: fluss.FlussTable,
    buckets: Iterable[int] = (0,),
    columns: Sequence[str] | None = None,
    start: int = BEGINNING,
    fixed_schema: bool | None = None,
) -> pa.Table:
    """Everything up to the latest offsets, as Arrow."""
    builder = table.new_scan()
    if columns is not None:
        builder = builder.project_by_name(list(columns))
    if fixed_schema is not None:
        builder = builder.with_fixed_schema(fixed_schema)
    scanner = await builder.create_record_batch_log_scanner()
    scanner.subscribe_buckets(dict.fromkeys(buckets, start))
    return await scanner.to_arrow()


async def records(
    table: fluss.FlussTable, count: int, buckets: Iterable[int] = (0,), start: int = BEGINNING
) -> list[fluss.ScanRecord]:
    """So many records, one by one."""
    scanner = await table.new_scan().create_log_scanner()
    scanner.subscribe_buckets(dict.fromkeys(buckets, start))
    return await poll_records(scanner, count)


async def poll_records(scanner: fluss.LogScanner, count: int) -> list[fluss.ScanRecord]:
    """Poll until so many records have come; the test's timeout is the limit."""
    found: list[fluss.ScanRecord] = []
    while len(found) < count:
        found += await scanner.poll(1000)
    return found


async def error_code(awaitable: Any) -> int:
    """The code with which a call is refused; 0 when it is not."""
    try:
        await awaitable
    except fluss.FlussError as wrong:
        return wrong.error_code
    return 0
