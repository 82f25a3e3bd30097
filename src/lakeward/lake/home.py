"""Where a table's lake is. The cluster remembers it, in the table's own properties, from the first round on.

Any cluster keeps these properties, ours and Apache's. A service or a reader that names another place is told, unless
the table is there too: a lake may be moved, or be mounted elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

from lakeward.errors import ErrorCode, LakewardError
from lakeward.lake.catalog_of import format_name, has_table, lake_properties
from lakeward.model.table import TableInfo
from lakeward.options.secrets import without_passwords
from lakeward.options.table import LAKE_FORMAT
from lakeward.options.tiering import LAKE_WAREHOUSE, LATE_LAKE_FORMAT


def place_in(properties: Mapping[str, str]) -> str | None:
    """The place that properties of a catalog name, as it is remembered; None when they name none."""
    place = properties.get("warehouse") or properties.get("uri")
    if place is None:
        return None
    parsed = urlparse(place)
    if parsed.scheme in {"", "file"}:
        return str(Path(unquote(parsed.path) if parsed.scheme else place).absolute())
    return without_passwords(place).rstrip("/")


def to_remember(info: TableInfo, given: Mapping[str, str], *, is_tiered: bool) -> dict[str, str]:
    """What a service writes down of a table before its first round; an error where its lake is elsewhere.

    `is_tiered` says that the cluster knows of a snapshot of it.
    """
    place = place_in(lake_properties(info, given))
    known = LAKE_WAREHOUSE.read(info.descriptor.custom_properties)
    if place is None or place == known:
        return {}
    if (known is not None or is_tiered) and not has_table(info, given):
        raise elsewhere(info, place)
    name = {} if LAKE_FORMAT.read(info.descriptor.properties) else {LATE_LAKE_FORMAT.key: format_name(info)}
    return {LAKE_WAREHOUSE.key: place, **name}


def check_found(info: TableInfo, given: Mapping[str, str]) -> None:
    """For a reader that has not found a table in the lake: an error where the cluster remembers that it is in one."""
    known = LAKE_WAREHOUSE.read(info.descriptor.custom_properties)
    place = place_in(given)
    if known is not None and place is not None and place != known:
        raise elsewhere(info, place)


def elsewhere(info: TableInfo, place: str) -> LakewardError:
    """The table is not where somebody looks for it."""
    known = LAKE_WAREHOUSE.read(info.descriptor.custom_properties)
    where = "in a lake already" if known is None else f"in the lake at {known}"
    return ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
        f"{info.path} is {where}, and not at {place}: name that place (--warehouse), or, to have it tiered anew into "
        f"{place}, say `lakeward tables alter {info.path} --set {LAKE_WAREHOUSE.key}={place}`."
    )
