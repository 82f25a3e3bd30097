"""KeyedRows: what a table with a primary key can do beyond a log. AsyncTable hands on to it."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lakeward.client.admin.partitions import Partitions
from lakeward.client.cluster.cluster import Cluster
from lakeward.client.cluster.writer_ids import WriterIds
from lakeward.client.forms.schema_forms import names_of
from lakeward.client.keys.conventions import Bucketing
from lakeward.client.keys.table_keys import TableKeys
from lakeward.client.lookup.bucket_evidence import BucketEvidence
from lakeward.client.lookup.few_keys import FewKeys
from lakeward.client.lookup.lookups import AskedKeys, FoundValues, Lookups
from lakeward.client.lookup.missing_keys import KeyNotFoundError
from lakeward.client.state.value_decoder import ValueDecoder
from lakeward.client.upsert.upserter import AsyncUpserter
from lakeward.client.upsert.written_columns import WrittenColumns
from lakeward.errors import ErrorCode, InvalidError
from lakeward.model.table import TableInfo

#: What becomes of keys that are not found: a row of NULLs, no row, or an error.
Missing: TypeAlias = Literal["null", "drop", "raise"]
_KEYS_SHOWN = 3


class KeyedRows:
    """Upserts, deletes and lookups of one table."""

    def __init__(
        self,
        cluster: Cluster,
        ids: WriterIds,
        info: TableInfo,
        partitions: Partitions,
        bucketing: Bucketing | None = None,
    ) -> None:
        self._cluster = cluster
        self._ids = ids
        self._info = info
        self._partitions = partitions
        self._keys = TableKeys(info)
        self._lookups = Lookups(cluster, info, partitions, self._keys)
        self._few = FewKeys(cluster, info, self._keys)
        self._evidence = BucketEvidence(cluster, info, partitions, self._keys, self._lookups, bucketing)

    # -- rows in ------------------------------------------------------------------------------------------------------

    def upserter(
        self,
        columns: Iterable[str] | None = None,
        *,
        batch_rows: int | None = None,
        batch_bytes: int | None = None,
        linger_ms: float | None = None,
    ) -> AsyncUpserter:
        """A pipelined writer of changes."""
        return AsyncUpserter(
            self._cluster,
            self._ids,
            self._info,
            self._partitions,
            self._keys,
            self._evidence.for_writing,
            self._all_columns if columns is None else WrittenColumns(self._info, columns),
            batch_rows=batch_rows,
            batch_bytes=batch_bytes,
            linger_ms=linger_ms,
        )

    @cached_property
    def _all_columns(self) -> WrittenColumns:
        return WrittenColumns(self._info)

    # -- rows out -----------------------------------------------------------------------------------------------------

    async def lookup(
        self, keys: Any, columns: Iterable[str] | None, missing: Missing, *, insert_missing: bool
    ) -> pa.Table:
        """The rows of these keys, in their order."""
        self._cluster.lines.open_wanted()
        if missing not in get_args(Missing):
            raise ErrorCode.INVALID_SCAN_REQUEST.error(
                f"missing={missing!r} is not known; say 'null', 'drop' or 'raise'."
            )
        decoder = self._whole_rows if columns is None else ValueDecoder(self._cluster, self._info, names_of(columns))
        few = None if insert_missing else self._few.rows_of(keys)
        if few is not None:
            return await self._look_up_few(few, keys, decoder, missing)
        asked = await self._lookups.encode(self._keys.forms.batch(keys))
        found = await self._lookups.find(asked, self._evidence.bucketing, insert_missing=insert_missing)
        await self._account_for(asked, found.missing, missing)
        return _in_order(await decoder.decode(found.values), found, drop=missing == "drop")

    def lookup_shortly(
        self, keys: Any, columns: Iterable[str] | None, missing: Missing
    ) -> pa.Table | Coroutine[Any, Any, pa.Table]:
        """A few rows, looked up on this thread, or what is to be run on the event loop instead."""
        few = self._few.rows_of(keys) if missing in get_args(Missing) else None
        values = None if few is None else self._few.find_shortly(few, self._evidence.bucketing)
        if values is None:
            return self.lookup(keys, columns, missing, insert_missing=False)
        decoder = self._whole_rows if columns is None else ValueDecoder(self._cluster, self._info, names_of(columns))
        found = decoder.decode_known(values) if None not in values else None
        return self._rows_of_few(values, keys, decoder, missing) if found is None else pa.Table.from_batches([found])

    async def _look_up_few(
        self, rows: Sequence[tuple[Any, ...]], keys: Any, decoder: ValueDecoder, missing: Missing
    ) -> pa.Table:
        try:
            values = await self._few.find(rows, self._evidence.bucketing)
        except InvalidError:
            self._keys.forms.batch(keys)  # says better which value does not fit
            raise
        return await self._rows_of_few(values, keys, decoder, missing)

    async def _rows_of_few(
        self, values: Sequence[bytes | None], keys: Any, decoder: ValueDecoder, missing: Missing
    ) -> pa.Table:
        if None not in values:
            return pa.Table.from_batches([await decoder.decode_few(values)])
        lacking = np.array([i for i, value in enumerate(values) if value is None], np.intp)
        await self._account_for(await self._lookups.encode(self._keys.forms.batch(keys)), lacking, missing)
        if missing == "drop":
            return pa.Table.from_batches([await decoder.decode_few([v for v in values if v is not None])])
        found = await decoder.decode_few(values)
        return pa.Table.from_arrays(found.columns, schema=_nullable(found.schema))

    async def _account_for(self, asked: AskedKeys, lacking: NDArray[np.intp], missing: Missing) -> None:
        """Find out why keys are missing, where that may be a mistake, and refuse them where they must not be."""
        if len(lacking):
            await self._evidence.explain_missing(asked, lacking)
            if missing == "raise":
                raise self._missing_key_error(asked, lacking)

    @cached_property
    def _whole_rows(self) -> ValueDecoder:
        return ValueDecoder(self._cluster, self._info)

    def _missing_key_error(self, asked: AskedKeys, lacking: NDArray[np.intp]) -> KeyNotFoundError:
        shown = asked.rows.take(pa.array(lacking[:_KEYS_SHOWN])).to_pylist()
        more = "" if len(lacking) <= _KEYS_SHOWN else f" and {len(lacking) - _KEYS_SHOWN} more"
        keys = ", ".join(str(tuple(row.values()) if len(row) > 1 else next(iter(row.values()))) for row in shown)
        return KeyNotFoundError(f"{self._info.path} has no row with the key {keys}{more}.")

    async def lookup_prefix(self, prefix: Any, columns: Iterable[str] | None) -> pa.Table:
        """The rows whose keys begin with this prefix, or with one of these."""
        self._keys.check_prefix()
        decoder = self._whole_rows if columns is None else ValueDecoder(self._cluster, self._info, names_of(columns))
        values = await self._lookups.find_by_prefix(self._keys.prefix_forms.batch(prefix), self._evidence.bucketing)
        return pa.Table.from_batches([await decoder.decode(values)])


def _in_order(rows: pa.RecordBatch, found: FoundValues, *, drop: bool) -> pa.Table:
    """Rows that came bucket by bucket, in the order of the keys; missing ones are rows of NULLs, or left out."""
    places = found.places
    absent = places < 0
    if absent.any():
        if drop:
            places = places[~absent]
        else:
            taken = rows.take(pa.array(np.where(absent, 0, places), mask=absent))
            return pa.Table.from_arrays(taken.columns, schema=_nullable(rows.schema))
    if len(places) == 0 or np.array_equal(places, np.arange(len(places))):
        return pa.Table.from_batches([rows])
    return pa.Table.from_batches([rows.take(pa.array(places))])


def _nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])  # noqa: FBT003 - Arrow's signature
