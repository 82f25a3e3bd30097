"""AutoPartition: partitions that come and go with the calendar.

Pure: a table's settings, and from them and a moment the names to create and to drop. auto_partitioner applies them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lakeward.errors import ErrorCode
from lakeward.model.partition import HISTORICAL
from lakeward.options import table as table_options
from lakeward.server.coordinator.tables.time_format import TimeFormat, TimeUnit

_FIXED_OFFSET = re.compile(r"(?:GMT|UTC)([+-])(\d{1,2})(?::?(\d{2}))?")
_MONTHS_PER_UNIT = {TimeUnit.YEAR: 12, TimeUnit.QUARTER: 3, TimeUnit.MONTH: 1}


@dataclass(frozen=True, slots=True)
class AutoPartition:
    """How a table's partitions follow the calendar."""

    enabled: bool
    key: str | None
    unit: TimeUnit
    format: TimeFormat
    zone: tzinfo
    precreate: int
    retention: int

    @classmethod
    def of(cls, properties: Mapping[str, str], default_zone: tzinfo) -> AutoPartition:
        """From the properties of a table; a bad format is INVALID_TABLE, a bad zone INVALID_CONFIG."""
        unit = TimeUnit(table_options.AUTO_PARTITION_UNIT.read(properties))
        pattern = table_options.AUTO_PARTITION_FORMAT.read(properties)
        try:
            time_format = TimeFormat.parse(unit.default_pattern if pattern is None else pattern, unit)
        except ValueError as wrong:
            key = table_options.AUTO_PARTITION_FORMAT.key
            raise ErrorCode.INVALID_TABLE.error(f"Invalid table property '{key}': {wrong}.") from wrong
        zone = table_options.AUTO_PARTITION_ZONE.read(properties)
        return cls(
            enabled=table_options.AUTO_PARTITION.read(properties),
            key=(table_options.AUTO_PARTITION_KEY.read(properties) or "").strip() or None,
            unit=unit,
            format=time_format,
            zone=default_zone if zone is None else zone_of(zone),
            precreate=table_options.AUTO_PARTITION_PRECREATE.read(properties),
            retention=table_options.AUTO_PARTITION_RETENTION.read(properties),
        )

    def key_position(self, partition_keys: Sequence[str]) -> int:
        """Which of the partition keys holds the time."""
        return 0 if self.key is None else partition_keys.index(self.key)

    def value(self, now_ms: int, offset: int = 0) -> str:
        """The name of the period `offset` units after the one of this moment; OverflowError beyond the calendar."""
        now = datetime.fromtimestamp(now_ms / 1000, UTC)
        if self.unit is TimeUnit.HOUR:
            return self.format.text((now + timedelta(hours=offset)).astimezone(self.zone))
        local = now.astimezone(self.zone).replace(tzinfo=None)
        if self.unit is TimeUnit.DAY:
            return self.format.text(local + timedelta(days=offset))
        return self.format.text(_plus_months(local, offset * _MONTHS_PER_UNIT[self.unit]))

    def values_ahead(self, now_ms: int, limit: int) -> list[str]:
        """The periods that should exist now: the current one and those after it."""
        values: list[str] = []
        for offset in range(min(self.precreate, limit)):
            try:
                values.append(self.value(now_ms, offset))
            except OverflowError:
                break
        return list(dict.fromkeys(values))

    def oldest_period(self, now_ms: int) -> str | None:
        """The oldest period that retention keeps; None when it keeps all."""
        if self.retention < 0:
            return None
        try:
            return self.value(now_ms, -self.retention)
        except OverflowError:
            return None

    def expired_periods(self, values: Iterable[str], now_ms: int) -> list[str]:
        """Those of these periods that retention drops."""
        oldest = self.oldest_period(now_ms)
        if oldest is None:
            return []
        return [value for value in values if value < oldest and value != HISTORICAL]

    def check_value(self, value: str, now_ms: int) -> None:
        """Refuse a value a person gives for the time key that is no period, or one already expired."""
        if not self.format.matches(value):
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"Partition value '{value}' does not match the expected format '{self.format.pattern}'"
                f" for auto-partition time unit '{self.unit}'."
            )
        if self.enabled and self.expired_periods([value], now_ms):
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"Partition value '{value}' is out-of-date. The earliest retained partition is"
                f" '{self.oldest_period(now_ms)}'."
            )


def zone_of(name: str) -> tzinfo:
    """A time zone by name, such as Europe/Berlin, UTC or GMT+8; INVALID_CONFIG when there is none."""
    text = name.strip()
    if match := _FIXED_OFFSET.fullmatch(text):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        if offset < timedelta(hours=24):
            return timezone(-offset if match[1] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as wrong:
        key = table_options.AUTO_PARTITION_ZONE.key
        raise ErrorCode.INVALID_CONFIG.error(
            f"Invalid value for config '{key}': there is no time zone '{text[:80]}'."
        ) from wrong


def _plus_months(time: datetime, months: int) -> datetime:
    month = time.year * 12 + time.month - 1 + months
    year = month // 12
    if not 1 <= year <= 9999:
        raise OverflowError("beyond the calendar")
    return time.replace(year=year, month=month % 12 + 1, day=1)
