"""The logs that are in use."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bucket_world import BucketWorld
from logs import fill

from lakeward.errors import LakewardError
from lakeward.model.bucket import TableBucket
from lakeward.server.buckets.logs import CopyProgress


def test_a_log_is_opened_when_it_is_first_touched_and_once() -> None:
    """Buckets that nobody asks for cost nothing."""
    world = BucketWorld()
    bucket = world.bucket()
    assert world.logs.find(bucket) is None
    log = world.logs.open(bucket)
    assert world.logs.open(bucket) is world.logs.find(bucket) is log
    assert world.logs.all() == [(bucket, log)]


def test_a_bucket_that_is_not_there_opens_nothing() -> None:
    """Neither a log nor a directory."""
    world = BucketWorld()
    with pytest.raises(LakewardError):
        world.logs.open(TableBucket(9, None, 0))
    assert not len(world.logs)


def test_logs_obey_options_that_are_changed_while_they_run() -> None:
    """All of them, or those of one table."""
    world = BucketWorld()
    first, second = (world.logs.open(world.bucket(name)) for name in ("a", "b"))
    world.settings = replace(world.settings, ttl_ms=5)
    (bucket, _), _ = world.logs.all()
    world.logs.refresh_settings(bucket.table_id)
    assert (first.settings.ttl_ms, second.settings.ttl_ms) == (5, world.settings.__class__().ttl_ms)
    world.logs.refresh_settings()
    assert second.settings.ttl_ms == 5


def test_offsets_that_were_copied_are_not_given_again() -> None:
    """A log that lost its end goes on behind what remote storage has of it."""
    world = BucketWorld(CopyProgress(lambda _: 40, keeps_rest=True))
    log = world.logs.open(world.bucket())
    assert (log.start_offset, log.end_offset, log.copied_offset) == (40, 40, 40)


def test_where_nothing_more_is_copied_nothing_waits_for_it() -> None:
    """Old copies are known, and retention goes by age alone."""
    world = BucketWorld(CopyProgress(lambda _: 0, keeps_rest=False))
    assert world.logs.open(world.bucket()).copied_offset is None


def test_a_closed_log_comes_back_as_it_was() -> None:
    """With its rows."""
    world = BucketWorld()
    bucket = world.bucket()
    fill(world.logs.open(bucket), 5)
    end = world.logs.open(bucket).end_offset
    world.logs.close()
    assert not len(world.logs)
    assert world.logs.open(bucket).end_offset == end
