"""Lookup by key, in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from browser_fixtures import Sight
from playwright.sync_api import expect
from server_process import ServerProcess

import lakeward as client

EVIL = "<script>document.title = 'gone'</script>"


@pytest.fixture
def visits(server: ServerProcess) -> Iterator[client.Table]:
    """A table by day, customer and page, in partitions and in buckets by customer."""
    with client.connect(server.bootstrap) as conn:
        conn.create_database("shop", exist_ok=True)
        table = conn.create_table(
            "shop.visits",
            "day STRING NOT NULL, customer BIGINT NOT NULL, page STRING NOT NULL, note STRING",
            primary_key=["day", "customer", "page"],
            partition_by="day",
            bucket_by="customer",
        )
        table.create_partition({"day": "2026-11-18"})
        pages = ("/", "/about", EVIL)
        table.upsert([{"day": "2026-11-18", "customer": 17, "page": page, "note": None} for page in pages])
        yield table
        conn.drop_table("shop.visits")


def test_a_row_is_found_by_its_key(sight: Sight, visits: client.Table) -> None:
    """One field for each column of the key, the partition's too."""
    page = sight.go("/lookup")
    page.get_by_label("Table").fill(str(visits.path))
    page.get_by_role("button", name="Choose").click()
    page.get_by_label("day STRING, of the partition").fill("2026-11-18")
    page.get_by_label("customer BIGINT").fill("17")
    page.get_by_label("page STRING").fill(EVIL)
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("status")).to_have_text("One row")
    assert page.locator("tbody td").all_inner_texts() == ["2026-11-18", "17", EVIL, "NULL"]
    assert page.title() == "Lookup · Lakeward"
    sight.check_access()
    sight.picture("console-lookup")
    page.get_by_label("day STRING, of the partition").fill("1999-01-01")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("status")).to_have_text("No row has this key")


def test_rows_are_found_by_the_beginning_of_their_keys(sight: Sight, visits: client.Table) -> None:
    """By the columns that say which bucket."""
    page = sight.go(f"/lookup?{urlencode({'table': str(visits.path)})}")
    page.get_by_role("link", name="Look for all rows by day, customer").click()
    page.get_by_label("day STRING, of the partition").fill("2026-11-18")
    page.get_by_label("customer BIGINT").fill("17")
    page.get_by_role("button", name="Look up").click()
    expect(page.get_by_role("status")).to_have_text("3 rows")


def test_bad_input_is_told_beside_its_field(sight: Sight, visits: client.Table) -> None:
    """A value that does not fit, a table that is not there, a table without a key."""
    sight.expected_statuses = {400}
    page = sight.go(f"/lookup?{urlencode({'table': str(visits.path)})}")
    page.get_by_label("customer BIGINT").fill("seventeen")
    page.get_by_role("button", name="Look up").click()
    field = page.get_by_label("customer BIGINT")
    assert field.get_attribute("aria-invalid") == "true"
    expect(page.locator(f"#{field.get_attribute('aria-describedby')}")).to_contain_text('"seventeen" does not fit')
    sight.check_access()
    page = sight.go(f"/lookup?{urlencode({'table': 'shop.nowhere'})}")
    expect(page.locator("#table-error")).to_contain_text("nowhere")
