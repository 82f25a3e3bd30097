"""Whether lakes can be opened from here: one table of each is tried, as a query would."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakeward.doctor.facts.tables import LakeFacts
from lakeward.doctor.look.look import sentence
from lakeward.errors import LakewardError
from lakeward.lake.catalog_of import format_name, lake_properties
from lakeward.model.table import TableInfo
from lakeward.options.secrets import without_passwords
from lakeward.options.spark import LAKE_PREFIX
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.lake.cold_part import LakeUnavailableError, open_reader

if TYPE_CHECKING:
    from lakeward.client.tables.connection import AsyncConnection

_LAKES_MAX = 3
_TABLES_MAX = 200


async def look_at_lakes(conn: AsyncConnection) -> Mapping[str, Any]:
    """The lakes of the first tables that have rows in one, each tried once."""
    by_lake: dict[tuple[str, str], TableInfo] = {}
    names = [f"{db}.{name}" for db in await conn.databases() for name in await conn.tables(db)]
    for name in names[:_TABLES_MAX]:
        try:
            info = (await conn.table(name)).info
            if LAKE_ENABLED.read(info.descriptor.properties) and await conn.lake.snapshot(info.path) is not None:
                by_lake.setdefault(_lake_of(conn, info), info)
        except LakewardError:
            continue  # dropped meanwhile, or nobody leads it now: others will do
        if len(by_lake) == _LAKES_MAX:
            break
    given = {LAKE_PREFIX + key: value for key, value in conn.lake_properties.items()}
    tried = (asyncio.to_thread(_try, info, place, given) for (_, place), info in by_lake.items() if place)
    return {"lakes": await asyncio.gather(*tried)}


def _lake_of(conn: AsyncConnection, info: TableInfo) -> tuple[str, str]:
    known = lake_properties(info, conn.lake_properties)
    return format_name(info), without_passwords(known.get("uri") or known.get("warehouse") or "")


def _try(info: TableInfo, place: str, options: Mapping[str, str]) -> LakeFacts:
    lake = format_name(info), str(info.path)
    try:
        reader = open_reader(info, options)
        if reader is None:
            return LakeFacts(*lake, trouble=f"the cluster was told of a snapshot of it, and there is none at {place}.")
        reader.snapshots()
    except LakeUnavailableError as wrong:
        return LakeFacts(*lake, trouble=sentence(wrong))
    except Exception as wrong:  # noqa: BLE001 - catalogs fail in as many ways as there are libraries
        return LakeFacts(*lake, trouble=f"{type(wrong).__name__}: {sentence(wrong)}")
    return LakeFacts(*lake)
