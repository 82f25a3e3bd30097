"""PartitionInfo: a partition that exists. Its name is its values joined with `$`, in the order of the keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.model import names
from lakeward.model.table import TablePath

SEPARATOR = "$"
HISTORICAL = "__historical__"


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """A partition that exists."""

    partition_id: int
    table_id: int
    name: str
    created_ms: int

    @property
    def values(self) -> tuple[str, ...]:
        """One value per partition key."""
        return tuple(self.name.split(SEPARATOR))


def resolved_values(
    path: TablePath, keys: Sequence[str], spec: Mapping[str, str], *, reserved_allowed: bool
) -> tuple[str, ...]:
    """The values of a partition in the order of the table's keys; refuses what does not fit the table."""
    if len(spec) != len(keys):
        raise ErrorCode.PARTITION_SPEC_INVALID.error(
            f"PartitionSpec size is not equal to partition keys size for partitioned table {path}:"
            f" the keys are {', '.join(keys)}."
        )
    for key in keys:
        if key not in spec:
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"PartitionSpec {qualified(list(spec), list(spec.values()))} does not contain partition key '{key}'"
                f" for partitioned table {path}."
            )
    values = tuple(spec[key] for key in keys)
    for value in values:
        if wrong := names.complaint(value, reserved_prefix_allowed=reserved_allowed):
            raise ErrorCode.PARTITION_SPEC_INVALID.error(
                f"The partition value {value[: names.NAME_LENGTH_MAX]} is invalid: {wrong}"
            )
    return values


def qualified(keys: Sequence[str], values: Sequence[str]) -> str:
    """A partition for people: k1=v1/k2=v2."""
    return "/".join(f"{key}={value}" for key, value in zip(keys, values, strict=True))
