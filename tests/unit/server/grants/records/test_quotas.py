"""Rates: who is over theirs waits, by as much as they are over it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.model.principal import Principal
from lakeward.options.server_options import ServerOptions
from lakeward.server.grants.records.quotas import Quota, Quotas, TokenBucket


def test_a_burst_of_a_second_is_free() -> None:
    """Then each piece takes its time."""
    bucket = TokenBucket(10, 0.0)
    assert [bucket.take(1, 0.0) for _ in range(10)] == [0.0] * 10
    assert bucket.take(1, 0.0) == pytest.approx(0.1)
    assert bucket.take(1, 0.0) == pytest.approx(0.2)
    assert bucket.take(1, 0.3) == 0.0


def test_what_was_saved_up_is_a_second_and_no_more() -> None:
    """Whoever was quiet for an hour has no hour's worth."""
    bucket = TokenBucket(10, 0.0)
    assert bucket.take(20, 3600.0) == pytest.approx(1.0)


def test_nobody_waits_longer_than_a_minute() -> None:
    """However large one request is."""
    assert TokenBucket(1, 0.0).take(1 << 40, 0.0) == 60.0


@given(st.integers(1, 1000), st.lists(st.integers(1, 500), min_size=20, max_size=60))
def test_who_waits_as_told_has_the_rate_and_no_more(rate: int, amounts: list[int]) -> None:
    """Whatever is asked for, in the long run."""
    now, bucket = 0.0, TokenBucket(rate, 0.0)
    for amount in amounts:
        now += bucket.take(min(amount, 59 * rate), now)
    taken = sum(min(amount, 59 * rate) for amount in amounts)
    assert taken <= rate * (now + 1) + 1e-6


def test_quotas_are_everybodys_or_somebodys_own() -> None:
    """A name's own rates come first; super users have none, for they are called to put things right."""
    quotas = Quotas(
        ServerOptions.of(
            {
                "authorizer.enabled": "true",
                "super.users": "User:admin",
                "quota.bytes-per-second": "1mb",
                "quota.requests-per-second": "100",
                "quota.users.bytes-per-second": "alice:5mb;bob:0b",
            }
        )
    )
    assert quotas.of(Principal("carol")) == Quota(1 << 20, 100)
    assert quotas.of(Principal("alice")) == Quota(5 << 20, 100)
    assert quotas.of(Principal("bob")) == Quota(0, 100)
    assert quotas.of(Principal("admin")) == Quota()
