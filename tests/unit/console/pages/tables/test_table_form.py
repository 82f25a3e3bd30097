"""TableForm: each error beside its field."""

from __future__ import annotations

import pytest

from lakeward.console.pages.tables.table_form import FIELDS, read_table_form


def form(**typed: str) -> dict[str, str]:
    """A form with two good fields, and others as given."""
    return dict.fromkeys(FIELDS, "") | {"name": "orders", "columns": "id BIGINT, dt STRING"} | typed


def test_a_good_form_is_what_the_client_takes() -> None:
    """Names are split, lines are pairs, what is empty is left to the server."""
    found = read_table_form(form(primary_key="id, dt", partition_by="dt", properties="table.log.ttl = 1d\n\n"))
    assert found.errors == {}
    assert found.arguments["partition_by"] == ("dt",)
    assert found.arguments["properties"] == {"table.log.ttl": "1d"}
    assert found.arguments["buckets"] is None
    assert found.arguments["schema"].primary_key == ("id", "dt")


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a b"}, "name"),
        ({"columns": ""}, "columns"),
        ({"columns": "id BIGINT,"}, "columns"),
        ({"columns": "id ODD"}, "columns"),
        ({"primary_key": "other"}, "primary_key"),
        ({"partition_by": "other"}, "partition_by"),
        ({"primary_key": "id", "partition_by": "dt"}, "partition_by"),
        ({"bucket_by": "other"}, "bucket_by"),
        ({"buckets": "0"}, "buckets"),
        ({"buckets": "-1"}, "buckets"),
        ({"buckets": "٣"}, "buckets"),
        ({"properties": "table.log.ttl"}, "properties"),
        ({"properties": "table.log.ttl=never"}, "properties"),
        ({"properties": "table.log.tll=1d"}, "properties"),
        ({"properties": "table.log.ttl=1d\ntable.log.ttl=2d"}, "properties"),
    ],
)
def test_a_bad_field_is_the_one_that_is_blamed(typed: dict[str, str], field: str) -> None:
    """And no other."""
    assert set(read_table_form(form(**typed)).errors) == {field}
