"""What a plan says to expect of the log."""

from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any, cast

from lakeward.client.forms.results import BucketId
from lakeward.client.read.log_peek import LogPeek
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.query.plan.log_bytes import with_log_bytes
from lakeward.query.plan.plan import Plan, Summary
from lakeward.query.plan.splits import LakeSplit, LogSplit, Split

_NUMBERS = count()


class Log:
    """A table of which only the next rows are known."""

    def __init__(self, seen: LogPeek | None) -> None:
        self.seen = seen
        self.path = TablePath("db", f"t{next(_NUMBERS)}")
        self.info = SimpleNamespace(table_id=1)
        self.asked: list[tuple[BucketId, int]] = []

    def peek(self, bucket: BucketId, offset: int) -> LogPeek | None:
        """What was given."""
        self.asked.append((bucket, offset))
        if self.seen is None:
            raise ErrorCode.LOG_OFFSET_OUT_OF_RANGE.error("gone")
        return self.seen


def planned(*splits: Split, offsets: int) -> Plan:
    """A plan of some splits."""
    return Plan(splits, Summary("db.t", None, 1, offsets, offsets, (1, 1), (), None, is_state=False))


def test_the_longest_stretch_speaks_for_all() -> None:
    """One look at the server, whatever the number of buckets and of plans."""
    log = Log(LogPeek(10, 500, 0))
    plan = planned(LogSplit(None, 0, 0, 10), LakeSplit(None, 1, "iceberg", 1, (), 5, 95), offsets=100)
    found = with_log_bytes(cast(Any, log), plan)
    assert log.asked == [(BucketId(None, 1), 5)]
    assert with_log_bytes(cast(Any, log), plan) == found
    assert len(log.asked) == 1
    assert found.summary.log_bytes == 5000
    assert "100 offsets (about 5,000 bytes)" in found.describe()
    assert found.to_json()["log_bytes"] == 5000


def test_a_log_that_cannot_be_looked_at_leaves_the_plan_as_it_is() -> None:
    """An expectation is not worth an error."""
    plan = planned(LogSplit(None, 0, 0, 10), offsets=10)
    assert with_log_bytes(cast(Any, Log(None)), plan) == plan
    assert "bytes" not in plan.describe()


def test_nothing_of_the_log_is_no_bytes() -> None:
    """And nobody is asked."""
    log = Log(None)
    assert with_log_bytes(cast(Any, log), planned(offsets=0)).summary.log_bytes == 0
    assert not log.asked
