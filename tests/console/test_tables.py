"""Databases, tables and partitions, in a browser: what is shown, and what forms do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_fixtures import Sight
from playwright.sync_api import Page, expect
from server_process import ServerProcess

import lakeward


@pytest.fixture
def connection(server: ServerProcess) -> Iterator[lakeward.Connection]:
    """The client, to prepare and to look."""
    with lakeward.connect(server.bootstrap) as opened:
        yield opened


def error_beside(page: Page, field: str) -> str:
    """What a form says beside a field."""
    assert page.locator(f"#{field}").get_attribute("aria-invalid") == "true"
    return page.locator(f"#{field}-error").inner_text()


def test_a_table_tells_everything_about_itself(sight: Sight, connection: lakeward.Connection, database: str) -> None:
    """Schema, properties with meaning and default, buckets with offsets, rows."""
    table = connection.create_table(
        f"{database}.orders",
        "id BIGINT, item STRING COMMENT 'as typed', price DECIMAL(10, 2)",
        buckets=2,
        properties={"table.log.ttl": "3d"},
        comment="every order",
    )
    table.append([{"id": at, "item": "<b>kettle</b>" if at else None, "price": "19.00"} for at in range(8)])
    page = sight.go(f"/tables/{database}/orders")
    expect(page.get_by_text("every order")).to_be_visible()
    expect(page.get_by_role("row", name="item STRING as typed")).to_be_visible()
    expect(page.get_by_role("row", name="table.log.ttl 3d 7 d How long records are kept")).to_be_visible()
    expect(page.get_by_text("<b>kettle</b>").first).to_be_visible()
    expect(page.locator(".null").first).to_have_text("null")
    ends = page.locator("#buckets tbody td:nth-child(3)").all_inner_texts()
    assert sum(map(int, ends)) == 8
    sight.check_access()


def test_a_form_refuses_bad_input_beside_the_field_and_keeps_it(
    sight: Sight, connection: lakeward.Connection, database: str
) -> None:
    """Each wrong field says what is wrong with it; put right, the form makes the table."""
    sight.expected_statuses = {400}
    page = sight.go(f"/databases/{database}")
    page.get_by_role("link", name="New table").click()
    page.get_by_label("Name").fill("no spaces allowed")
    page.get_by_label("Columns").fill("id BIGINT, name STRANGE")
    page.get_by_label("Buckets").fill("many")
    page.get_by_label("Properties").fill("table.log.ttl=soon")
    page.get_by_role("button", name="Create").click()
    assert "no spaces allowed" in error_beside(page, "name")
    assert "STRANGE" in error_beside(page, "columns")
    assert "whole number" in error_beside(page, "buckets")
    assert "soon" in error_beside(page, "properties")
    assert page.get_by_label("Columns").input_value() == "id BIGINT, name STRANGE"
    sight.check_access()
    page.get_by_label("Name").fill("people")
    page.get_by_label("Columns").fill("id BIGINT, name STRING")
    page.get_by_label("Primary key").fill("id")
    page.get_by_label("Buckets").fill("2")
    page.get_by_label("Properties").fill("table.log.ttl=1d")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("status")).to_have_text("Created.")
    made = connection.table(f"{database}.people").info
    assert (made.schema.primary_key, made.bucket_count) == (("id",), 2)


def test_a_table_is_altered_and_dropped(sight: Sight, connection: lakeward.Connection, database: str) -> None:
    """A property, a column; and dropping wants the name."""
    sight.expected_statuses = {400}
    connection.create_table(f"{database}.notes", "id BIGINT")
    page = sight.go(f"/tables/{database}/notes")
    page.get_by_text("Change a property").click()
    page.get_by_label("Property", exact=True).fill("table.log.ttl")
    page.get_by_label("Value").fill("for ever")
    page.get_by_role("button", name="Change").click()
    assert "for ever" in error_beside(page, "value")
    page.get_by_label("Value").fill("9d")
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_role("status")).to_have_text("Changed.")
    page.get_by_text("Add a column").click()
    page.get_by_label("Column", exact=True).fill("coupon STRING")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("row", name="coupon STRING")).to_be_visible()
    assert connection.table(f"{database}.notes").info.descriptor.properties["table.log.ttl"] == "9d"
    page.get_by_role("link", name="Drop this table").click()
    page.get_by_label("Type the name").fill("notes")
    page.get_by_role("button", name="Drop table").click()
    assert f"{database}.notes" in error_beside(page, "confirm")
    page.get_by_label("Type the name").fill(f"{database}.notes")
    page.get_by_role("button", name="Drop table").click()
    expect(page.get_by_role("status")).to_have_text("Dropped.")
    assert connection.tables(database) == []


def test_partitions_are_filtered_created_and_dropped(
    sight: Sight, connection: lakeward.Connection, database: str
) -> None:
    """There may be thousands: a page of them, and a filter."""
    sight.expected_statuses = {400}
    table = connection.create_table(f"{database}.days", "dt STRING, n INT", partition_by=["dt"], buckets=1)
    for day in range(1, 21):
        table.create_partition({"dt": f"2026-08-{day:02}"})
    page = sight.go(f"/tables/{database}/days")
    expect(page.get_by_text("1 – 15 of 20")).to_be_visible()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_text("16 – 20 of 20")).to_be_visible()
    page.get_by_label("Filter by name").fill("08-07")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("#partitions tbody tr")).to_have_count(1)
    page.get_by_text("New partition").click()
    page.get_by_role("button", name="Create").click()
    assert error_beside(page, "value-dt") == "Type a value."
    page.get_by_role("textbox", name="dt required").fill("2026-09-01")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("status")).to_have_text("Created.")
    page.goto(page.url.split("?")[0] + "?partition=2026-09-01")
    page.get_by_role("link", name="drop … 2026-09-01").click()
    page.get_by_label("Type the name").fill("2026-09-01")
    page.get_by_role("button", name="Drop partition").click()
    expect(page.get_by_role("status")).to_have_text("Dropped.")
    assert len(table.partitions()) == 20


def test_databases_are_created_found_and_dropped(sight: Sight, connection: lakeward.Connection, database: str) -> None:
    """A database that is there already, one that is not empty, and one that goes with its tables."""
    sight.expected_statuses = {400}
    page = sight.go("/tables")
    page.get_by_role("link", name="New database").click()
    page.get_by_label("Name").fill(database)
    page.get_by_role("button", name="Create").click()
    assert database in error_beside(page, "name")
    page.get_by_label("Name").fill(f"{database}_two")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("status")).to_have_text("Created.")
    connection.create_table(f"{database}_two.needle", "id INT")
    page = sight.go("/tables")
    sight.check_access()
    page.get_by_label("Find a table in all databases").fill(f"{database}_two.need")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=f"{database}_two.needle")).to_be_visible()
    page = sight.go(f"/databases/{database}_two/drop")
    page.get_by_label("Type the name").fill(f"{database}_two")
    page.get_by_role("button", name="Drop database").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Drop its tables, too").check()
    page.get_by_role("button", name="Drop database").click()
    expect(page.get_by_role("status")).to_have_text("Dropped.")
    assert f"{database}_two" not in connection.databases()
