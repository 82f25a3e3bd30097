"""Plans are made again while the table moves on under them: the one place where that is tried again.

What was planned from may be gone when it is looked at: a partition that was listed, the part of a log that retention
removed, files of a snapshot that expired. A newer plan has the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from lakeward.errors import ErrorCode, LakewardError
from lakeward.query.lake.lake_cache import lake_cache_of
from lakeward.query.lake.overtaken import OvertakenError

if TYPE_CHECKING:
    from lakeward.client.blocking.sync import Connection

T = TypeVar("T")
_PLANS_MAX = 3
#: Partitions may go while they are looked at; each time costs little.
_LISTINGS_MAX = 50


def replan(conn: Connection, work: Callable[[], T]) -> T:
    """What work comes to that makes a plan, and may read by it; again where the table has overtaken it."""
    for plans in count(1):
        try:
            return work()
        except OvertakenError:
            lake_cache_of(conn.inner).forget_readers()
            if plans >= _PLANS_MAX:
                raise
        except LakewardError as wrong:
            if wrong.code is not ErrorCode.PARTITION_NOT_EXISTS or plans >= _LISTINGS_MAX:
                raise
    raise AssertionError("it returns or raises")
