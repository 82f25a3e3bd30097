"""Formats by name. Ours are listed here; third parties plug in by the entry point group `lakeward.lake_formats`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from lakeward.errors import ErrorCode
from lakeward.lake.port import LakeFormat

GROUP = "lakeward.lake_formats"
_OURS = {
    "iceberg": ("lakeward.lake.iceberg.format", "IcebergFormat"),
    "paimon": ("lakeward.lake.paimon.format", "PaimonFormat"),
}


@cache
def lake_format(name: str) -> LakeFormat:
    """The format of that name; one whose library is not installed says what to install."""
    if name in _OURS:
        module, kind = _OURS[name]
        try:
            found: LakeFormat = getattr(import_module(module), kind)()
        except ModuleNotFoundError as missing:
            raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
                f"The lake format '{name}' needs a library that is not installed ({missing.name}): "
                f"pip install 'lakeward[{name}]'."
            ) from missing
        return found
    plugged = entry_points(group=GROUP, name=name)
    if not plugged:
        known = sorted({*_OURS, *(e.name for e in entry_points(group=GROUP))})
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"There is no lake format '{name}'; there are {', '.join(known)}."
        )
    made: LakeFormat = next(iter(plugged)).load()()
    return made
