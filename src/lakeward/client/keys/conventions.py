"""Bucketing: whose way of spreading keys over buckets a table follows.

Java and the clients built on Rust (pyfluss) hash the last bytes of some keys differently, so that they look for the
same key in different buckets (docs/decisions/0012). Tables follow Java unless they are declared to follow pyfluss.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from lakeward.errors import ErrorCode
from lakeward.model.table import TableDescriptor
from lakeward.options.table import LAKE_FORMAT

#: The custom property by which a table says so.
PROPERTY = "lakeward.bucketing"
_DISAGREEING_LAKES = {None, "lance"}


class Bucketing(enum.StrEnum):
    """Whose way it is."""

    JAVA = "java"
    PYFLUSS = "pyfluss"

    @property
    def other(self) -> Bucketing:
        """The way that is not this one."""
        return Bucketing.PYFLUSS if self is Bucketing.JAVA else Bucketing.JAVA


def bucketing_of(text: str) -> Bucketing:
    """What people write → whose way it is."""
    try:
        return Bucketing(text.strip().lower())
    except ValueError:
        raise ErrorCode.INVALID_CONFIG.error(
            f"'{text}' is no way of bucketing; '{PROPERTY}' is 'java' or 'pyfluss'."
        ) from None


def declared_bucketing(custom_properties: Mapping[str, str]) -> Bucketing | None:
    """What a table's properties say, if anything."""
    text = custom_properties.get(PROPERTY)
    return None if text is None else bucketing_of(text)


def with_bucketing(custom_properties: Mapping[str, str] | None, bucketing: str | None) -> Mapping[str, str] | None:
    """The properties of a new table that declares it."""
    return custom_properties if bucketing is None else {**(custom_properties or {}), PROPERTY: bucketing_of(bucketing)}


def can_disagree(descriptor: TableDescriptor) -> bool:
    """Whether the two ways differ for this table at all.

    Keys of Paimon are whole words, Iceberg hashes as everybody does, Hudi's keys are hashes; one bucket is one bucket.
    """
    return LAKE_FORMAT.read(descriptor.properties) in _DISAGREEING_LAKES and descriptor.bucket_count != 1
