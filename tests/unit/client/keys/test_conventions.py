"""Whose way of bucketing a table follows, as its properties say."""

from __future__ import annotations

import pytest
from fake_cluster import table_info

from lakeward.client.keys.conventions import (
    PROPERTY,
    Bucketing,
    bucketing_of,
    can_disagree,
    declared_bucketing,
    with_bucketing,
)
from lakeward.errors import InvalidError


def test_a_table_says_it_or_says_nothing() -> None:
    """The custom property counts, in any case of letters."""
    assert declared_bucketing({}) is None
    assert declared_bucketing({PROPERTY: "PyFluss"}) is Bucketing.PYFLUSS
    assert declared_bucketing({PROPERTY: "java"}) is Bucketing.JAVA
    assert Bucketing.JAVA.other is Bucketing.PYFLUSS
    assert Bucketing.PYFLUSS.other is Bucketing.JAVA


def test_a_word_that_is_neither_is_refused() -> None:
    """With what can be said instead."""
    with pytest.raises(InvalidError, match="'java' or 'pyfluss'"):
        bucketing_of("rust")


def test_a_new_table_declares_it_beside_its_other_properties() -> None:
    """Nothing is added when nothing is said."""
    assert with_bucketing({"owner": "me"}, "pyfluss") == {"owner": "me", PROPERTY: "pyfluss"}
    assert with_bucketing(None, "java") == {PROPERTY: "java"}
    assert with_bucketing(None, None) is None


@pytest.mark.parametrize(
    ("buckets", "lake", "disagrees"),
    [
        (1, None, False),
        (2, None, True),
        (2, "lance", True),
        (2, "paimon", False),
        (2, "iceberg", False),
        (2, "hudi", False),
    ],
)
def test_only_our_own_hash_on_several_buckets_can_disagree(buckets: int, lake: str | None, disagrees: bool) -> None:
    """Lakes with functions of their own are out of it."""
    properties = {} if lake is None else {"table_datalake_format": lake}
    info = table_info("id INT, PRIMARY KEY (id) NOT ENFORCED", buckets=buckets, **properties)
    assert can_disagree(info.descriptor) is disagrees
