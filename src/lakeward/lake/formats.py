"""Formats by name. Ours are listed here; third parties plug in by the entry point group `lakeward.lake_formats`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from lakeward.errors import ErrorCode
from lakeward.lake.library_version import check_library, unfit_library
from lakeward.lake.port import LakeFormat, LakeReader
from lakeward.model.table import TableInfo
from lakeward.runtime.process.held_signals import hold_signals

GROUP = "lakeward.lake_formats"
_OURS = {
    "iceberg": ("lakeward.lake.iceberg.format", "IcebergFormat"),
    "paimon": ("lakeward.lake.paimon.format", "PaimonFormat"),
}
#: Ways to read tables of a local lake that do not wait for the format's whole library to be imported.
_QUICK = {"iceberg": ("lakeward.lake.iceberg.read.reader", "local_reader")}

#: Properties and table → its reader, or None if the lake does not have it; None alone: look for it in the usual way.
QuickReader = Callable[[Mapping[str, str], TableInfo], tuple[LakeReader | None] | None]


def quick_reader(name: str) -> QuickReader | None:
    """The quick way to tables of a format, where there is one."""
    if name not in _QUICK:
        return None
    module, function = _QUICK[name]
    with hold_signals():
        found: QuickReader = getattr(import_module(module), function)
    return found


@cache
def lake_format(name: str) -> LakeFormat:
    """The format of that name; one whose library is not installed, or not one that fits, says what to install."""
    if name in _OURS:
        check_library(name)
        module, kind = _OURS[name]
        try:
            with hold_signals():  # a library would make an error of its own of Ctrl-C, or lose it
                found: LakeFormat = getattr(import_module(module), kind)()
        except ModuleNotFoundError as missing:
            raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
                f"The lake format '{name}' needs a library that is not installed ({missing.name}): "
                f"pip install 'lakeward[{name}]'."
            ) from missing
        except ImportError as broken:
            raise unfit_library(name, str(broken)) from broken
        return found
    plugged = entry_points(group=GROUP, name=name)
    if not plugged:
        known = sorted({*_OURS, *(e.name for e in entry_points(group=GROUP))})
        raise ErrorCode.LAKE_STORAGE_NOT_CONFIGURED.error(
            f"There is no lake format '{name}'; there are {', '.join(known)}."
        )
    made: LakeFormat = next(iter(plugged)).load()()
    return made
