"""Versions of Iceberg's table format: which are read and written here, and what is said of the others."""

from __future__ import annotations

from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.table import TableInfo, TablePath

#: Version 3 brings deletes in Puffin files, values for columns that files lack, and types of its own.
_READ = ("1", "2")
#: Deletes came with version 2.
_WRITTEN_BY_KEY = ("2",)


def check_readable(version: object, path: TablePath) -> None:
    """Refuse a table that would be misread."""
    if str(version) not in _READ:
        raise ErrorCode.INVALID_TABLE.error(
            f"The lake's table {path} is in version {version} of Iceberg's format, and versions 1 and 2 are read here: "
            f"read it with an engine that knows version {version}, or copy it with one into version 2."
        )


def check_writable(version: object, info: TableInfo) -> None:
    """Refuse a table before anything is written to it."""
    keyed = info.descriptor.has_primary_key
    if str(version) in (_WRITTEN_BY_KEY if keyed else _READ):
        return
    remedy = (
        "set its property format-version to 2, which any engine of Iceberg does"
        if str(version) == "1"
        else "leave out 'iceberg.format-version', or tier into a warehouse that does not have the table yet"
    )
    written = "version 2 is written for primary key tables" if keyed else "versions 1 and 2 are written"
    raise ErrorCode.INVALID_TABLE.error(
        f"The lake's table {info.path} is in version {version} of Iceberg's format, and {written} here: {remedy}."
    )


def unreadable_metadata(path: TablePath, wrong: Exception) -> LakewardError:
    """The sentence for metadata that pyiceberg does not take."""
    why = " ".join(str(wrong).split())[:300]
    return ErrorCode.INVALID_TABLE.error(
        f"The metadata of the lake's table {path} cannot be read: it is damaged, or of a version of Iceberg's format "
        f"above 3 ({why})."
    )
