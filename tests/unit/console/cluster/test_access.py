"""ClusterAccess: what somebody types is a password, never a place to look one up."""

from __future__ import annotations

import pytest

from lakeward.console.cluster.access import ClusterAccess
from lakeward.errors import DeniedError


@pytest.mark.parametrize(("user", "password"), [("alice", "file:/etc/passwd"), ("${env:HOME}", "x"), ("a", "${env:A}")])
async def test_references_are_not_taken_from_a_form(user: str, password: str) -> None:
    """Else a visitor could have the console send its files and variables to the cluster."""
    with pytest.raises(DeniedError):
        ClusterAccess("localhost:1", {}, {}).of_user(user, password)


async def test_a_cluster_that_does_not_answer_asks_for_no_login() -> None:
    """The page says that it is down, instead of asking who somebody is."""
    assert not await ClusterAccess("localhost:1", {"client.connect-timeout": "200 ms"}, {}).asks_login()
