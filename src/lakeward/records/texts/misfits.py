"""Values that do not fit a column: how that shows, and how it is said."""

from __future__ import annotations

import json
from decimal import Decimal

from lakeward.errors import LakewardError
from lakeward.model.schema import Column

#: What Arrow and our own casts raise for values that do not fit: its errors derive from ValueError and TypeError.
MISFITS = (ValueError, TypeError, ArithmeticError, LakewardError)
_SHOWN_LENGTH = 60


def misfit(column: Column, value: object) -> str:
    """Why a value does not go into a column."""
    if value is None:
        return f"column '{column.name}' is NOT NULL, and there is no value"
    shown = str(value) if isinstance(value, Decimal) else json.dumps(value, default=str, ensure_ascii=False)
    shown = shown if len(shown) <= _SHOWN_LENGTH else f"{shown[:_SHOWN_LENGTH]}…"
    return f"column '{column.name}' is {column.type}; {shown} does not fit"
