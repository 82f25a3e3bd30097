"""-1 in a request is what the request itself has added last."""

from __future__ import annotations

from typing import Any

import pytest

from lakeward.lake.iceberg.others.last_added import with_last_added


@pytest.mark.parametrize(
    ("adds", "chooses", "number"),
    [
        ({"action": "add-schema", "schema": {"schema-id": 4}}, "set-current-schema", "schema-id"),
        ({"action": "add-spec", "spec": {"spec-id": 4}}, "set-default-spec", "spec-id"),
        ({"action": "add-sort-order", "sort-order": {"order-id": 4}}, "set-default-sort-order", "sort-order-id"),
    ],
)
def test_the_last_one_is_named_by_its_number(adds: dict[str, Any], chooses: str, number: str) -> None:
    """Not by the highest there is; a number that is given stays."""
    request = {"updates": [adds, {"action": chooses, number: -1}, {"action": chooses, number: 2}]}
    assert with_last_added(request)["updates"] == [adds, {"action": chooses, number: 4}, {"action": chooses, number: 2}]


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"updates": 7},
        {"updates": [7]},
        {"updates": [{"action": "set-default-spec", "spec-id": -1}]},
        {"updates": [{"action": "add-spec", "spec": 3}, {"action": "set-default-spec", "spec-id": -1}]},
        {"updates": [{"action": ["fly"]}]},
    ],
)
def test_what_is_not_understood_stays(request_: dict[str, Any]) -> None:
    """Who reads it says what is wrong."""
    assert with_last_added(request_) == request_
