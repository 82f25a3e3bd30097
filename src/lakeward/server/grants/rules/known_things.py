"""KnownThings: what rules must look up to know which table a request is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lakeward.errors import ErrorCode
from lakeward.model.acl import Resource
from lakeward.model.bucket import TableBucket
from lakeward.server.catalog.catalog import Catalog
from lakeward.server.grants.acls.thing import Thing


class KnownThings:
    """Tables by number, and by what refers to them."""

    def __init__(
        self,
        catalog: Catalog,
        producer_buckets: Callable[[str], Iterable[TableBucket]],
        leased_buckets: Callable[[str], Iterable[TableBucket]],
    ) -> None:
        """Told by id: the buckets of which a producer has registered offsets, and those that a lease holds."""
        self._catalog = catalog
        self._producer_buckets = producer_buckets
        self._leased_buckets = leased_buckets

    def table(self, table_id: int) -> Thing:
        """The table with that number; UNKNOWN_TABLE_OR_BUCKET when there is none."""
        found = self.find_table(table_id)
        if found is None:
            raise ErrorCode.UNKNOWN_TABLE_OR_BUCKET.error(f"There is no table with id {table_id}.")
        return found

    def find_table(self, table_id: int) -> Thing | None:
        """The table with that number, if there is one."""
        table = self._catalog.table_by_id(table_id)
        return None if table is None else Thing(Resource.of_path(table.path), f"the table with id {table_id}")

    def table_of_partition(self, partition_id: int) -> Thing | None:
        """The table that a partition belongs to, if there is one."""
        partition = self._catalog.partition_by_id(partition_id)
        return None if partition is None else self.find_table(partition.table_id)

    def tables_of_producer(self, producer_id: str) -> list[Thing]:
        """The tables of which a producer has registered offsets; those that are gone need no right."""
        return self._tables(self._producer_buckets(producer_id))

    def tables_of_lease(self, lease_id: str) -> list[Thing]:
        """The tables of which a lease holds snapshots; those that are gone need no right."""
        return self._tables(self._leased_buckets(lease_id))

    def tables_that_are_there(self, table_ids: Iterable[int]) -> list[Thing]:
        """The tables with these numbers, without those that are gone."""
        return [found for table_id in sorted(set(table_ids)) if (found := self.find_table(table_id)) is not None]

    def _tables(self, buckets: Iterable[TableBucket]) -> list[Thing]:
        return self.tables_that_are_there(bucket.table_id for bucket in buckets)
