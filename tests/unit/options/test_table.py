"""Properties of tables, under the names people know them by."""

from __future__ import annotations

import pytest

from lakeward.errors import ErrorCode, LakewardError
from lakeward.options import table
from lakeward.options.table import canonical_properties

DAY_MS = 86_400_000


@pytest.mark.parametrize(
    ("alias", "value", "key", "canonical"),
    [
        ("log.retention.hours", "168", "table.log.ttl", "168 h"),
        ("log.retention.hours", "-1", "table.log.ttl", "0 ms"),
        ("log.retention.bytes", "1073741824", "table.log.retention.bytes", "1073741824b"),
        ("log.retention.bytes", "-1", "table.log.retention.bytes", "0b"),
        ("log.segment.bytes", "1048576", "table.log.segment.file-size", "1048576b"),
        ("log.roll.hours", "24", "table.log.roll-interval", "24 h"),
        ("log.segment.delete.delay.ms", "60000", "table.log.segment.delete-delay", "60000 ms"),
        ("table.replication-factor", "1", "table.replication.factor", "1"),
        ("log.tiering.interval.ms", "60000", "table.datalake.freshness", "60000 ms"),
        ("remote.data.dir", "s3://bucket/x", "table.remote.data.dir", "s3://bucket/x"),
    ],
)
@pytest.mark.parametrize("custom", [False, True])
def test_names_of_older_guides_are_translated(alias: str, value: str, key: str, canonical: str, custom: bool) -> None:
    """An alias arrives among properties or custom properties and leaves as a property."""
    given = ({}, {alias: value}) if custom else ({alias: value}, {})
    found = canonical_properties(*given)
    assert found.properties == {key: canonical}
    assert found.custom == {}
    table.TABLE_OPTIONS.check(found.properties)


def test_the_bucket_number_belongs_to_the_descriptor() -> None:
    """bucket.num is no property at all."""
    found = canonical_properties({"bucket.num": "4"}, {"mine": "x"})
    assert (found.bucket_count, found.properties, found.custom) == (4, {}, {"mine": "x"})


@pytest.mark.parametrize(
    ("alias", "value"),
    [
        ("log.retention.hours", "a week"),
        ("log.retention.hours", "-2"),
        ("log.roll.hours", "0"),
        ("log.segment.bytes", "0"),
        ("log.segment.delete.delay.ms", "1.5"),
        ("bucket.num", "0"),
        ("bucket.num", "many"),
        ("log.tiering.interval.ms", "9" * 400),
    ],
)
def test_a_bad_value_of_an_alias_is_refused_under_its_own_name(alias: str, value: str) -> None:
    """People see the name they wrote."""
    with pytest.raises(LakewardError, match=f"'{alias}'") as refused:
        canonical_properties({alias: value}, {})
    assert refused.value.code is ErrorCode.INVALID_CONFIG


def test_both_names_with_two_values_are_refused() -> None:
    """It is not for us to choose; the same value twice is fine."""
    with pytest.raises(LakewardError, match=r"another name for 'table\.log\.ttl'"):
        canonical_properties({"table.log.ttl": "1 d", "log.retention.hours": "12"}, {})
    with pytest.raises(LakewardError, match="another name"):
        canonical_properties({"table.log.ttl": "1 d"}, {"log.retention.hours": "12"})
    same = canonical_properties({"table.log.ttl": "12 h"}, {"log.retention.hours": "12"})
    assert same.properties == {"table.log.ttl": "12 h"}


def test_defaults_are_those_of_apache_fluss() -> None:
    """A table that says nothing behaves as it would there."""
    defaults = {
        table.LOG_FORMAT: "ARROW",
        table.LOG_COMPRESSION: "ZSTD",
        table.LOG_ZSTD_LEVEL: 3,
        table.LOG_TTL: 7 * DAY_MS,
        table.LOG_LOCAL_TTL: None,
        table.LOG_LOCAL_SEGMENTS: 2,
        table.KV_FORMAT: "COMPACTED",
        table.DELETE_BEHAVIOR: "ALLOW",
        table.CHANGELOG_IMAGE: "FULL",
        table.AUTO_INCREMENT_CACHE: 100_000,
        table.AUTO_PARTITION: False,
        table.AUTO_PARTITION_UNIT: "DAY",
        table.AUTO_PARTITION_PRECREATE: 2,
        table.AUTO_PARTITION_RETENTION: 7,
        table.LAKE_ENABLED: False,
        table.LAKE_FRESHNESS: 180_000,
        table.MERGE_ENGINE: None,
    }
    assert {option: option.read({}) for option in defaults} == defaults


def test_statistics_columns_are_none_all_or_some() -> None:
    """Unset is none, a star is all, names are cut at commas."""
    assert table.statistics_columns({}) is None
    assert table.statistics_columns({"table.statistics.columns": " * "}) == ("*",)
    assert table.statistics_columns({"table.statistics.columns": "a, b,"}) == ("a", "b")
