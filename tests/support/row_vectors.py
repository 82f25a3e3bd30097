"""Reads the vectors of tests/data/vectors.json: types and values as this project writes them."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from lakeward.model.data_types import DataType, TypeRoot
from lakeward.model.type_text import parse_type
from lakeward.model.values import Timestamp, decimal_of

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "vectors.json").read_text(encoding="utf-8"))


def types_of(vector: dict[str, Any]) -> tuple[DataType, ...]:
    """The column types of a vector."""
    return tuple(parse_type(t) for t in vector["types"])


def values_of(vector: dict[str, Any]) -> tuple[Any, ...]:
    """The values of a vector."""
    return tuple(value_of(t, v) for t, v in zip(types_of(vector), vector["values"], strict=True))


def value_of(type_: DataType, node: Any) -> Any:
    """One value from the vectors' JSON."""
    if node is None:
        return None
    match type_.root:
        case TypeRoot.DECIMAL:
            return decimal_of(int(node["unscaled"]), type_.precision, type_.scale)
        case TypeRoot.DATE:
            return node["epoch_day"]
        case TypeRoot.TIME:
            return node["milli_of_day"]
        case TypeRoot.TIMESTAMP | TypeRoot.TIMESTAMP_LTZ:
            return Timestamp(node["millis"], node["nano_of_milli"])
        case TypeRoot.BINARY | TypeRoot.BYTES:
            return bytes.fromhex(node["hex"])
        case TypeRoot.ARRAY:
            return tuple(value_of(type_.element, v) for v in node)
        case TypeRoot.MAP:
            return tuple((value_of(type_.key, k), value_of(type_.value, v)) for k, v in node)
        case TypeRoot.ROW:
            return tuple(value_of(f.type, v) for f, v in zip(type_.fields, node, strict=True))
        case _:
            return node


def label(vector: dict[str, Any]) -> str:
    """A short name for a vector in test output."""
    return f"{vector.get('format', vector.get('encoder', ''))}-{vector.get('name', vector['types'][0])}"


assert value_of(parse_type("DECIMAL(10, 2)"), {"unscaled": "12345"}) == Decimal("123.45")
