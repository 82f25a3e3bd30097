"""lookup_join: rows of a table looked up by key for every row of a DataFrame, batch or streaming."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, get_args

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Schema
from lakeward.model.table import TableInfo
from lakeward.options.spark import BOOTSTRAP_SERVERS, LOOKUP_CACHE_ROWS, LOOKUP_CACHE_TTL, connector_options
from lakeward.spark.lookup.lookup_task import LookupSpec, run
from lakeward.spark.table.connections import connection
from lakeward.spark.table.types import spark_schema, spark_type

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

How = Literal["left", "inner"]
_CATALOG = "fluss"
_WHOLE_NUMBERS = ("byte", "short", "integer", "long")


def lookup_join(
    table: str,
    on: Mapping[str, str] | Sequence[str] | str,
    *,
    how: How = "left",
    columns: Sequence[str] | None = None,
    prefix: str = "",
    cache_rows: int | None = None,
    cache_ttl: str | timedelta | None = None,
    bootstrap: str | None = None,
    **options: Any,
) -> Callable[[DataFrame], DataFrame]:
    """For `DataFrame.transform`: every row with the columns of the table's row that has its key.

        orders.transform(lookup_join("fluss.shop.users", on={"user_id": "id"}))

    `on` maps columns of the DataFrame to the table's primary key, or to its bucket key where that begins the primary
    key: then a row comes once for each row found. With names alone both sides have the same ones. Rows without a match
    get NULLs (`how="left"`) or are left out (`"inner"`); none waits for its match. `columns` are those to add, by
    default all but the key given; `prefix` is put before their names.

    Each Python worker remembers up to `cache_rows` rows for `cache_ttl` (`"60 s"`), and for a second that a key has no
    row. The cluster is that of the catalog in the table's name (`fluss` without one), or `bootstrap` and `options`
    (`**{"client.…": …}`).
    """
    if how not in get_args(How):
        raise ErrorCode.INVALID_CONFIG.error(f"how={how!r} is not known; a lookup join is 'left' or 'inner'.")
    pairs = _pairs(on)
    given = {key: str(value) for key, value in options.items()}
    if cache_rows is not None:
        given[LOOKUP_CACHE_ROWS.key] = str(cache_rows)
    if cache_ttl is not None:
        ttl = f"{cache_ttl // timedelta(milliseconds=1)} ms" if isinstance(cache_ttl, timedelta) else cache_ttl
        given[LOOKUP_CACHE_TTL.key] = ttl
    if bootstrap is not None:
        given[BOOTSTRAP_SERVERS.key] = bootstrap

    def join(frame: DataFrame) -> DataFrame:
        catalog, name = _catalog_of(table)
        settings = connector_options({**_catalog_options(frame.sparkSession, catalog, given), **given})
        info = connection(settings).table(name).info
        spec = LookupSpec(
            options=tuple(sorted(settings.items())),
            table=name,
            on=_pairs_in_key_order(pairs, _key_columns(info, pairs)),
            columns=(chosen := _choose_columns(info, pairs, columns)),
            names=tuple(prefix + column for column in chosen),
            by_prefix=set(pairs.values()) != set(info.schema.primary_key),
            keep_unmatched=how == "left",
            cache_rows=LOOKUP_CACHE_ROWS.read(settings),
            cache_ttl_ms=LOOKUP_CACHE_TTL.read(settings),
        )
        _check_frame(frame, spec, info)

        def look_up(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return run(spec, batches)

        return frame.mapInArrow(look_up, _joined_schema(frame, spec, info))

    return join


def _pairs(on: Mapping[str, str] | Sequence[str] | str) -> dict[str, str]:
    names = [on] if isinstance(on, str) else on
    pairs = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
    if not pairs:
        raise ErrorCode.INVALID_CONFIG.error("`on` is empty; say on={'column of the DataFrame': 'key of the table'}.")
    if len(set(pairs.values())) != len(pairs):
        raise ErrorCode.INVALID_CONFIG.error("`on` names a column of the table twice.")
    return pairs


def _catalog_of(table: str) -> tuple[str | None, str]:
    parts = table.replace("`", "").split(".")
    if len(parts) == 3:
        return parts[0], ".".join(parts[1:])
    if len(parts) != 2:
        raise ErrorCode.INVALID_CONFIG.error(f"'{table}' names no table; write 'db.table' or 'catalog.db.table'.")
    return None, table


def _catalog_options(spark: SparkSession, catalog: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """What the session says of the catalog; other settings that stand there are not for us."""
    head = f"spark.sql.catalog.{catalog or _CATALOG}."
    settings = {key: value for key, value in spark.conf.getAll.items() if key.startswith(head)}
    found = {key.removeprefix(head): value for key, value in settings.items()}
    if BOOTSTRAP_SERVERS.key not in {**found, **given}:
        raise ErrorCode.INVALID_CONFIG.error(
            f"The session has no catalog '{catalog or _CATALOG}' to take the cluster from; give "
            f"lookup_join(…, bootstrap='host:9123'), or start the session with lakeward.spark.session('host:9123')."
        )
    return {key: value for key, value in found.items() if key == BOOTSTRAP_SERVERS.key or key.startswith("client.")}


def _key_columns(info: TableInfo, pairs: Mapping[str, str]) -> tuple[str, ...]:
    """The table's columns that are looked up, in the order in which the client wants them."""
    descriptor, key = info.descriptor, info.schema.primary_key
    if not key:
        raise ErrorCode.INVALID_TABLE.error(f"{info.path} has no primary key, so nothing can be looked up in it.")
    ways = [key]
    bucket_key, physical = descriptor.bucket_keys, descriptor.physical_primary_key
    if len(bucket_key) < len(physical) and physical[: len(bucket_key)] == bucket_key:
        ways.append((*descriptor.partition_keys, *bucket_key))
    for way in ways:
        if set(way) == set(pairs.values()):
            return way
    allowed = " or ".join(f"({', '.join(way)})" for way in ways)
    raise ErrorCode.INVALID_CONFIG.error(
        f"{info.path} is looked up by {allowed}; `on` names ({', '.join(pairs.values())})."
    )


def _pairs_in_key_order(pairs: Mapping[str, str], keys: Sequence[str]) -> tuple[tuple[str, str], ...]:
    of_key = {right: left for left, right in pairs.items()}
    return tuple((of_key[key], key) for key in keys)


def _choose_columns(info: TableInfo, pairs: Mapping[str, str], columns: Sequence[str] | None) -> tuple[str, ...]:
    if columns is None:
        return tuple(name for name in info.schema.names if name not in pairs.values())
    for name in columns:
        if name not in info.schema.names:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"Table {info.path} has no column '{name}'; its columns are {', '.join(info.schema.names)}."
            )
    return tuple(dict.fromkeys(columns))


def _check_frame(frame: DataFrame, spec: LookupSpec, info: TableInfo) -> None:
    fields = {field["name"]: field for field in json.loads(frame.schema.json())["fields"]}
    for left, right in spec.on:
        if left not in fields:
            raise ErrorCode.INVALID_TARGET_COLUMN.error(
                f"The DataFrame has no column '{left}' to look up {info.path} by; it has {', '.join(fields)}."
            )
        own, key = fields[left]["type"], spark_type(info.schema.column(right).type)
        if own != key and not _widens(own, key):
            raise _misfit(left, own, right, info)
    present = {name.lower() for name in fields}
    doubled = [f"'{name}'" for name in spec.names if name.lower() in present]
    if doubled:
        raise ErrorCode.INVALID_TARGET_COLUMN.error(
            f"The DataFrame and {info.path} both have {', '.join(doubled)}; set the table's names apart with "
            f"prefix='…', or say which columns to add with columns=[…]."
        )


def _widens(own: Any, key: Any) -> bool:
    whole = own in _WHOLE_NUMBERS and key in _WHOLE_NUMBERS if isinstance(own, str) and isinstance(key, str) else False
    return whole and _WHOLE_NUMBERS.index(own) < _WHOLE_NUMBERS.index(key)


def _misfit(left: str, own: Any, right: str, info: TableInfo) -> LakewardError:
    key = info.schema.column(right).type.as_nullable()
    shown = own if isinstance(own, str) else own["type"]
    return ErrorCode.INVALID_TARGET_COLUMN.error(
        f"Column '{left}' of the DataFrame is {shown}, and '{right}' of {info.path} is {key}: cast it first."
    )


def _joined_schema(frame: DataFrame, spec: LookupSpec, info: TableInfo) -> StructType:
    from pyspark.sql.types import StructField, StructType

    chosen: Schema = info.schema.select(spec.columns)
    added = []
    for field, name in zip(spark_schema(chosen)["fields"], spec.names, strict=True):
        nullable = field["nullable"] or spec.keep_unmatched
        added.append(StructField.fromJson({**field, "name": name, "nullable": nullable}))
    return StructType([*frame.schema.fields, *added])
