"""Chores that fail for one bucket."""

from __future__ import annotations

import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lakeward.errors import ErrorCode
from lakeward.model.bucket import TableBucket
from lakeward.model.table import TablePath
from lakeward.server.tablet.state.chore_failures import log_failures

BUCKET = TableBucket(7, None, 3)
DIRECTORY = Path("/data/shop/orders-7/kv-3")


def catalog_of(*tables: int) -> Any:
    """A catalog with these tables."""
    known = {number: SimpleNamespace(path=TablePath("shop", "orders")) for number in tables}
    return SimpleNamespace(table_by_id=known.get)


@pytest.mark.parametrize(
    "wrong",
    [OSError(errno.ENOSPC, "No space left on device"), ErrorCode.KV_STORAGE.error("No space left on device")],
)
def test_trouble_is_told_with_table_and_directory(wrong: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever reads the log knows where to look; what is known needs no traceback."""
    with log_failures("The snapshot", catalog_of(7), BUCKET, DIRECTORY):
        raise wrong
    (record,) = caplog.records
    assert record.levelname == "ERROR"
    assert not record.exc_info
    for part in ("The snapshot", "shop.orders", str(DIRECTORY), "tried again", "No space left on device"):
        assert part in record.getMessage()


def test_a_bug_is_told_with_its_traceback(caplog: pytest.LogCaptureFixture) -> None:
    """It does not end the chore either."""
    with log_failures("Retention", catalog_of(7), BUCKET, DIRECTORY):
        raise AssertionError("bug")
    assert caplog.records[0].exc_info


def test_a_table_that_is_gone_is_no_trouble(caplog: pytest.LogCaptureFixture) -> None:
    """Files that went away with their table are nobody's concern."""
    with log_failures("The snapshot", catalog_of(), BUCKET, DIRECTORY):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
