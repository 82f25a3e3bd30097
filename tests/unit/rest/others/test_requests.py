"""Bodies of requests that change something."""

from __future__ import annotations

import pytest

from lakeward.rest.others.requests import json_object, name_given, namespace_given, table_given, texts_given
from lakeward.rest.protocol.failures import RestError


@pytest.mark.parametrize("name", ["orders", "Grüße", "with space", "quote'd", 'double"d', "a" * 200, "日本"])
def test_names_that_are_taken(name: str) -> None:
    """Whatever a folder and a URL can hold."""
    assert name_given(name, "table") == name


@pytest.mark.parametrize("name", ["", " a", "a.b", "a/b", "..", "a\n", "a%2f", "now", "a$now", "a" * 201, None, 3])
def test_names_that_are_refused(name: object) -> None:
    """What would be another folder, or means a table as it is now."""
    with pytest.raises(RestError, match="name"):
        name_given(name, "table")


def test_shapes() -> None:
    """What is not the protocol's shape is refused with 400."""
    assert namespace_given(["lab"]) == "lab"
    assert table_given({"namespace": ["lab"], "name": "t"}) == ("lab", "t")
    assert texts_given(None) == {}
    assert json_object(b"") == {}
    for call, told in (
        (namespace_given, ["a", "b"]),
        (namespace_given, "a"),
        (table_given, None),
        (texts_given, {"a": 1}),
        (json_object, b"{"),
        (json_object, b"3"),
        (json_object, b"[" * 100_000),
    ):
        with pytest.raises(RestError) as refused:
            call(told)  # type: ignore[operator]
        assert refused.value.status == 400
