"""The calendar of partitions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakeward.errors import ErrorCode, LakewardError
from lakeward.server.coordinator.tables.auto_partition import AutoPartition, zone_of
from lakeward.server.coordinator.tables.time_format import TimeUnit

NOON_MS = 1_731_324_600_000  # 2024-11-11T11:30Z


def at(text: str, zone: tzinfo = UTC) -> int:
    """A moment in milliseconds."""
    return int(datetime.fromisoformat(text).replace(tzinfo=zone).timestamp() * 1000)


def settings(unit: str = "DAY", zone: tzinfo = UTC, **properties: str) -> AutoPartition:
    """Settings of a table with auto-partitioning enabled."""
    keys = {f"table.auto-partition.{key.replace('_', '-')}": value for key, value in properties.items()}
    return AutoPartition.of(
        {"table.auto-partition.enabled": "true", "table.auto-partition.time-unit": unit, **keys}, zone
    )


@pytest.mark.parametrize(
    ("unit", "now", "next_", "seventh_before"),
    [
        ("YEAR", "2024", "2025", "2017"),
        ("QUARTER", "20244", "20251", "20231"),
        ("MONTH", "202411", "202412", "202404"),
        ("DAY", "20241111", "20241112", "20241104"),
        ("HOUR", "2024111111", "2024111112", "2024111104"),
    ],
)
def test_the_vectors_of_the_specification(unit: str, now: str, next_: str, seventh_before: str) -> None:
    """Names of periods around 2024-11-11T11:30Z, as upstream's own code makes them."""
    calendar = settings(unit)
    assert [calendar.value(NOON_MS, offset) for offset in (0, 1, -7)] == [now, next_, seventh_before]


def test_pre_creation_counts_the_current_period() -> None:
    """num-precreate partitions, starting with now."""
    assert settings(num_precreate="3").values_ahead(NOON_MS, 1000) == ["20241111", "20241112", "20241113"]
    assert settings(num_precreate="0").values_ahead(NOON_MS, 1000) == []
    assert settings(num_precreate="-4").values_ahead(NOON_MS, 1000) == []


def test_pre_creation_is_bounded() -> None:
    """A huge number asks for no more than a table may have, and not past the calendar."""
    assert len(settings(num_precreate="2147483647").values_ahead(NOON_MS, 50)) == 50
    late = settings("YEAR", num_precreate="20000").values_ahead(NOON_MS, 20_000)
    assert late[-1] == "9999"


def test_retention_keeps_the_number_of_past_periods() -> None:
    """Retention 3 on 2024-11-11 keeps 2024-11-08 and later."""
    days = ["20241107", "20241108", "20241111", "20250101"]
    assert settings(num_retention="3").expired_periods(days, NOON_MS) == ["20241107"]


@pytest.mark.parametrize("retention", ["-1", "2147483647"])
def test_retention_may_keep_all(retention: str) -> None:
    """A negative number keeps everything, and so does one beyond the calendar."""
    assert settings(num_retention=retention).expired_periods(["00010101", "20241107"], NOON_MS) == []


def test_the_historical_partition_never_expires() -> None:
    """It is older than every name, and stays."""
    assert settings("YEAR").expired_periods(["!", "__historical__", "1999"], NOON_MS) == ["!", "1999"]


def test_periods_follow_the_zone_of_the_table() -> None:
    """Half an hour before midnight in UTC it is tomorrow in Tokyo."""
    late = at("2024-11-11T23:30")
    assert settings().value(late) == "20241111"
    assert settings(time_zone="Asia/Tokyo").value(late) == "20241112"
    assert settings(zone=ZoneInfo("America/New_York"), unit="HOUR").value(late) == "2024111118"


def test_hours_are_counted_through_summer_time() -> None:
    """An hour that happens twice has one name; one that is skipped has none."""
    berlin = {"unit": "HOUR", "time_zone": "Europe/Berlin"}
    autumn = settings(**berlin, num_precreate="4").values_ahead(at("2024-10-26T23:30"), 1000)
    assert autumn == ["2024102701", "2024102702", "2024102703"]
    spring = settings(**berlin, num_precreate="3").values_ahead(at("2024-03-31T00:30"), 1000)
    assert spring == ["2024033101", "2024033103", "2024033104"]


def test_months_are_counted_from_the_end_of_a_long_one() -> None:
    """A month after January 31 is February."""
    assert settings("MONTH").value(at("2024-01-31T12:00"), 1) == "202402"
    assert settings("QUARTER").value(at("2023-11-30T12:00"), 1) == "20241"


def test_a_custom_format_is_used_everywhere() -> None:
    """Names, retention and checks all go by the pattern."""
    calendar = settings(time_format="yyyy-MM-dd", num_retention="1")
    assert calendar.values_ahead(NOON_MS, 10) == ["2024-11-11", "2024-11-12"]
    assert calendar.expired_periods(["2024-11-09", "2024-11-10"], NOON_MS) == ["2024-11-09"]


@pytest.mark.parametrize("value", ["x", "2024", "20241399", "20241103"])
def test_a_value_given_by_hand_must_be_a_period_that_is_kept(value: str) -> None:
    """No partition is created that is no period, or that would be dropped at once."""
    with pytest.raises(LakewardError) as refused:
        settings().check_value(value, NOON_MS)
    assert refused.value.code is ErrorCode.PARTITION_SPEC_INVALID
    settings().check_value("20241104", NOON_MS)


def test_a_disabled_calendar_checks_the_format_only() -> None:
    """With auto-partitioning off, old periods may be created."""
    calendar = settings(enabled="false", time_format="yyyyMMdd")
    calendar.check_value("19990101", NOON_MS)
    with pytest.raises(LakewardError):
        calendar.check_value("x", NOON_MS)


@pytest.mark.parametrize(
    ("name", "hours"), [("UTC", 0.0), ("GMT+8", 8.0), ("GMT-03:30", -3.5), ("UTC+0530", 5.5), ("Asia/Tokyo", 9.0)]
)
def test_zones_have_names_or_offsets(name: str, hours: float) -> None:
    """A zone is an IANA name, or GMT and an offset."""
    assert zone_of(name).utcoffset(datetime(2024, 1, 1)) == timedelta(hours=hours)


@pytest.mark.parametrize("name", ["", "Nowhere/Land", "../../etc/passwd", "/etc/passwd", "GMT+99", "x" * 5000, "a\0b"])
def test_a_zone_that_is_none_is_refused(name: str) -> None:
    """No name reaches the file system, and the message stays short."""
    with pytest.raises(LakewardError) as refused:
        zone_of(name)
    assert refused.value.code is ErrorCode.INVALID_CONFIG
    assert len(refused.value.message) < 300


@given(
    unit=st.sampled_from(TimeUnit),
    now_ms=st.integers(at("1980-01-01"), at("2200-01-01")),
    precreate=st.integers(0, 30),
    retention=st.integers(0, 30),
)
def test_what_is_created_is_not_dropped(unit: TimeUnit, now_ms: int, precreate: int, retention: int) -> None:
    """A check never drops what the same check creates."""
    calendar = settings(unit, num_precreate=str(precreate), num_retention=str(retention))
    ahead = calendar.values_ahead(now_ms, 1000)
    assert len(ahead) == precreate
    assert calendar.expired_periods(ahead, now_ms) == []
    for value in ahead:
        calendar.check_value(value, now_ms)
