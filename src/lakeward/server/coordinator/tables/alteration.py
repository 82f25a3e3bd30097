"""Alteration: one change of one setting, of a database, a table or the cluster."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass

from lakeward.errors import ErrorCode
from lakeward.protocol.messages.shared import PbAlterConfig


class AlterOp(enum.IntEnum):
    """What is to be done with a setting."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True)
class Alteration:
    """One change of one setting, as asked for."""

    key: str
    value: str | None
    op: int


def alterations_of(changes: Iterable[PbAlterConfig]) -> list[Alteration]:
    """Changes from the wire."""
    return [Alteration(change.config_key, change.config_value, change.op_type) for change in changes]


def apply_alteration(properties: dict[str, str], alteration: Alteration) -> None:
    """Set or delete one property in place; other operations are refused."""
    match alteration.op:
        case AlterOp.SET if alteration.value is not None:
            properties[alteration.key] = alteration.value
        case AlterOp.SET:
            raise ErrorCode.INVALID_CONFIG.error(f"The property '{alteration.key}' is given no value.")
        case AlterOp.DELETE:
            properties.pop(alteration.key, None)
        case _:
            raise ErrorCode.UNKNOWN_SERVER_ERROR.error(
                f"Properties can be set or deleted; the operation {alteration.op} on '{alteration.key}' is neither."
            )
