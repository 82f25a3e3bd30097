"""What was asked of a tail."""

from __future__ import annotations

from fake_cluster import table_info

from lakeward.console.pages.live.tail_form import tail_form

INFO = table_info("id BIGINT, name STRING, price DOUBLE")


def test_all_columns_are_shown_unless_some_are_chosen() -> None:
    """In the table's order, whatever order they are asked for in."""
    assert tail_form(INFO, [], "", "last", with_origin=False).columns == ("id", "name", "price")
    assert tail_form(INFO, ["price", "id"], "", "last", with_origin=False).columns == ("id", "price")


def test_what_is_wrong_is_told_for_each_field() -> None:
    """Each with a sentence of its own; what was typed stays."""
    form = tail_form(INFO, ["nope"], "x" * 3000, "tomorrow", with_origin=True)
    assert set(form.errors) == {"column", "where", "from"}
    assert "'nope'" in form.errors["column"]
    assert form.where == "x" * 3000
