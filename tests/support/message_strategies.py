"""Hypothesis strategies for wire messages, as wide as their declared fields."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import strategies as st

from lakeward.protocol.api import Api
from lakeward.protocol.codec.shapes import shapes

_VALUES = {
    "bool": st.booleans(),
    "i32": st.integers(-(2**31), 2**31 - 1),
    "i64": st.integers(-(2**63), 2**63 - 1),
    "f32": st.floats(width=32, allow_nan=False),
    "f64": st.floats(allow_nan=False),
    "str": st.text(st.characters(codec="utf-8"), max_size=20),
    "bytes": st.binary(max_size=30),
    "payload": st.binary(max_size=30),
}
_DEPTH_MAX = 3


@cache
def messages(cls: type, depth: int = 0) -> st.SearchStrategy[Any]:
    """Any message of a class; optional parts are left out now and then."""
    parts = {}
    for shape in shapes(cls):
        if shape.message is not None:
            if depth >= _DEPTH_MAX and not shape.required:
                continue
            value = messages(shape.message, depth + 1)
        else:
            value = _VALUES[shape.kind]
        if shape.repeated:
            value = st.lists(value, max_size=3).map(tuple)
        elif not shape.required:
            value = st.none() | value
        parts[shape.name] = value
    return st.builds(cls, **parts)


def all_messages() -> list[type]:
    """Every message class that an API uses, nested ones included."""
    found: dict[type, None] = {}

    def add(cls: type) -> None:
        if cls not in found:
            found[cls] = None
            for shape in shapes(cls):
                if shape.message is not None:
                    add(shape.message)

    for api in Api:
        add(api.request)
        add(api.response)
    return list(found)
