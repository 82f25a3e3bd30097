"""The names of properties in CREATE TABLE: those that are ours, and those that are nearly ours, which are refused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.options.table import PREFIX, TABLE_OPTIONS

PRIMARY_KEY, BUCKET_COUNT, BUCKET_KEY = "primary.key", "bucket.num", "bucket.key"
#: Other words for the same things.
_SYNONYMS = {
    PRIMARY_KEY: ("primarykey", "primarykeys", "primarykeycolumns", "pk"),
    BUCKET_COUNT: ("bucketnum", "bucketsnum", "numbuckets", "bucketcount", "bucketnumber", "buckets", "bucket"),
    BUCKET_KEY: ("bucketkey", "bucketkeys", "bucketby", "distributedby"),
}
_LIKE_ENOUGH = 0.88


def check_names(names: Iterable[str], path: TablePath) -> None:
    """Refuse properties that were meant to be ours: kept as the user's own they would silently do nothing."""
    for name in names:
        meant = _right_name(name)
        if meant is not None:
            raise ErrorCode.INVALID_TABLE.error(
                f"Table {path}: '{name}' is not a property of tables, and would be kept without a meaning; did you mean"
                f" '{meant}'?"
            )


def _right_name(name: str) -> str | None:
    # The server refuses unknown names with its prefix, and knows names of older guides.
    if name.startswith(PREFIX) or name in TABLE_OPTIONS.aliases:
        return None
    bare = _bare(name)
    for right, words in _SYNONYMS.items():
        if bare in words:
            return right
    known = {_bare(option.removeprefix(PREFIX)): option for option in TABLE_OPTIONS.rows}
    known |= {_bare(option): option for option in TABLE_OPTIONS.rows}
    known |= {words[0]: right for right, words in _SYNONYMS.items()}
    close = difflib.get_close_matches(bare, known, n=1, cutoff=_LIKE_ENOUGH)
    return known[close[0]] if close else None


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
