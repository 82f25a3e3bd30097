"""Chores that fail for one bucket: told with the table and the directory, and no other bucket misses its turn."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.buckets import Buckets

_log = logging.getLogger(__name__)


@contextmanager
def log_failures(what: str, buckets: Buckets, bucket: TableBucket, directory: Path) -> Iterator[None]:
    """What fails in here is logged; the chore's next turn tries it again. For use on any thread."""
    try:
        yield
    except Exception as wrong:  # noqa: BLE001 - whatever it is, it must stop neither other buckets nor other chores
        table = buckets.table_by_id(bucket.table_id)
        if table is None:
            _log.debug("%s was dropped meanwhile: %s", directory, wrong)
            return
        is_known = isinstance(wrong, LakewardError | OSError)
        told = "%s of %s (%s) in %s failed and will be tried again: %s"
        _log.error(told, what, table.path, bucket, directory, wrong, exc_info=not is_known)
