"""Where streams and reads begin and end, by what the options say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lakeward.errors import ErrorCode
from lakeward.spark.ingest.kafka.brokers.cluster import Cluster
from lakeward.spark.ingest.kafka.ground import kafka_options as rows
from lakeward.spark.ingest.kafka.ground.offsets import Partition, parse_places


def first_places(
    cluster: Cluster, options: Mapping[str, str], partitions: Iterable[Partition], patience_s: float
) -> dict[Partition, int]:
    """The first offset to read of every partition."""
    parts = list(partitions)
    mode = rows.STARTUP_MODE.read(options) or ("group-offsets" if rows.GROUP_ID.key in options else "earliest-offset")
    if mode == "latest-offset":
        return cluster.latest(parts, patience_s)
    earliest = cluster.earliest(parts, patience_s)
    match mode:
        case "timestamp":
            return cluster.at_time(parts, _time(options, rows.STARTUP_TIMESTAMP.key, rows.STARTUP_MODE.key), patience_s)
        case "group-offsets":
            _need_group(options, rows.STARTUP_MODE.key)
            return {**earliest, **cluster.committed(parts, patience_s)}
        case "specific-offsets":
            given = _read_given(options, rows.STARTUP_OFFSETS.key, parts, rows.STARTUP_MODE.key)
            _check_given(given, earliest, cluster.latest(parts, patience_s))
            return {**earliest, **given}
        case _:
            return earliest


def last_places(
    cluster: Cluster, options: Mapping[str, str], partitions: Iterable[Partition], patience_s: float
) -> dict[Partition, int] | None:
    """Where every partition ends; None if it does not."""
    parts = list(partitions)
    match rows.BOUNDED_MODE.read(options):
        case "unbounded":
            return None
        case "latest-offset":
            return cluster.latest(parts, patience_s)
        case "timestamp":
            return cluster.at_time(parts, _time(options, rows.BOUNDED_TIMESTAMP.key, rows.BOUNDED_MODE.key), patience_s)
        case "group-offsets":
            _need_group(options, rows.BOUNDED_MODE.key)
            return {**cluster.latest(parts, patience_s), **cluster.committed(parts, patience_s)}
        case _:
            given = _read_given(options, rows.BOUNDED_OFFSETS.key, parts, rows.BOUNDED_MODE.key)
            return {**cluster.latest(parts, patience_s), **given}


def _time(options: Mapping[str, str], key: str, mode: str) -> int:
    if key not in options:
        raise ErrorCode.INVALID_CONFIG.error(f"'{mode}' = 'timestamp' needs the option '{key}' too.")
    return rows.STARTUP_TIMESTAMP.kind.parse(options[key])  # type: ignore[no-any-return]


def _need_group(options: Mapping[str, str], mode: str) -> None:
    if rows.GROUP_ID.key not in options:
        raise ErrorCode.INVALID_CONFIG.error(f"'{mode}' = 'group-offsets' needs the option '{rows.GROUP_ID.key}' too.")


def _read_given(options: Mapping[str, str], key: str, parts: list[Partition], mode: str) -> dict[Partition, int]:
    if key not in options:
        raise ErrorCode.INVALID_CONFIG.error(f"'{mode}' = 'specific-offsets' needs the option '{key}' too.")
    given = parse_places(options[key], sorted({topic for topic, _ in parts}), key)
    for topic, partition in given:
        if (topic, partition) not in parts:
            raise ErrorCode.INVALID_CONFIG.error(f"'{key}': topic '{topic}' has no partition {partition}.")
    return given


def _check_given(
    given: Mapping[Partition, int], earliest: Mapping[Partition, int], latest: Mapping[Partition, int]
) -> None:
    for part, offset in given.items():
        if not earliest[part] <= offset <= latest[part]:
            raise ErrorCode.INVALID_CONFIG.error(
                f"'{rows.STARTUP_OFFSETS.key}': topic '{part[0]}', partition {part[1]} has the offsets"
                f" {earliest[part]} to {latest[part]}, and no {offset}."
            )
