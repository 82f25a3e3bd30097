"""The pages of consumer groups and of remote storage, in a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_fixtures import Sight
from eventually import eventually
from playwright.sync_api import expect
from server_process import ServerProcess

import lakeward
from lakeward.client.blocking.groups import ConsumerGroups
from lakeward.client.forms.results import BucketId

ROWS = 60
ONLY = BucketId(None, 0)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that copies its log to a directory, in small segments."""
    home = tmp_path_factory.mktemp("group-pages")
    options = {"remote__data__dir": str(home / "remote"), "log__segment__file_size": "1 kb"}
    with ServerProcess(home / "data", remote__log__task_interval_duration="50 ms", **options) as process:
        yield process


@pytest.fixture(scope="module")
def groups(server: ServerProcess) -> Iterator[ConsumerGroups]:
    """A group whose name has what addresses and pages must quote, twenty rows behind."""
    with lakeward.connect(server.bootstrap) as conn:
        conn.create_database("shop")
        table = conn.create_table("shop.orders", "id BIGINT, item STRING", buckets=1)
        for number in range(ROWS):
            table.append([{"id": number, "item": "x" * 200}])
        yield ConsumerGroups(conn)


NAME = "billing & <co>/1"
ADDRESS = "/groups/group?name=billing%20%26%20%3Cco%3E%2F1"


@pytest.fixture(autouse=True)
def behind(groups: ConsumerGroups) -> None:
    """Where every test finds the group."""
    groups.commit(NAME, "shop.orders", {ONLY: ROWS - 20})


def test_groups_are_listed_with_how_far_they_are_behind(sight: Sight) -> None:
    """And a click shows each bucket."""
    page = sight.go("/groups")
    row = page.get_by_role("row", name=NAME)
    assert "shop.orders" in row.inner_text()
    assert "\t20\t" in row.inner_text()
    sight.check_access()
    page.get_by_role("link", name=NAME).click()
    assert page.get_by_role("heading", level=1).inner_text() == f"Group {NAME}"
    assert page.get_by_text("20 rows behind.").is_visible()
    sight.check_access()
    sight.picture("console-group")


def test_a_group_is_reset_after_it_was_shown_what_happens(sight: Sight, groups: ConsumerGroups) -> None:
    """Nothing moves before it is confirmed."""
    page = sight.go(ADDRESS)
    page.get_by_label("To", exact=True).select_option("earliest")
    page.get_by_role("button", name="See what it does").click()
    assert page.get_by_text("40 rows are read again.").is_visible()
    assert groups.committed(NAME, "shop.orders") == {ONLY: 40}
    sight.check_access()
    page.get_by_role("button", name="Reset the group").click()
    expect(page.get_by_role("status").first).to_contain_text("Reset.")
    assert page.get_by_text("60 rows behind.").is_visible()
    assert groups.committed(NAME, "shop.orders") == {ONLY: 0}


@pytest.mark.parametrize(
    ("to", "value", "then"), [("offset", "55", 55), ("latest", "", 60), ("timestamp", "1d-ago", 0)]
)
def test_a_group_goes_to_an_offset_an_end_or_a_time(
    sight: Sight, groups: ConsumerGroups, to: str, value: str, then: int
) -> None:
    """Whatever a person chooses."""
    page = sight.go(ADDRESS)
    page.get_by_label("To", exact=True).select_option(to)
    page.get_by_label("Time or offset").fill(value)
    page.get_by_role("button", name="See what it does").click()
    page.get_by_role("button", name="Reset the group").click()
    expect(page.get_by_role("status").first).to_contain_text("Reset.")
    assert groups.committed(NAME, "shop.orders") == {ONLY: then}


def test_a_form_that_means_nothing_is_refused_field_by_field(sight: Sight, groups: ConsumerGroups) -> None:
    """What was typed stays, and nothing has moved."""
    sight.expected_statuses = {400}
    page = sight.go(ADDRESS)
    page.get_by_label("To", exact=True).select_option("timestamp")
    page.get_by_label("Time or offset").fill("yesterday")
    page.get_by_label("Only in these buckets").fill("one")
    page.get_by_role("button", name="See what it does").click()
    assert page.get_by_label("Time or offset").get_attribute("aria-invalid") == "true"
    assert page.get_by_label("Time or offset").input_value() == "yesterday"
    assert "A time is such as" in page.locator("#value-error").inner_text()
    assert "Numbers of buckets" in page.locator("#buckets-error").inner_text()
    sight.check_access()
    page.get_by_label("Time or offset").fill("15m-ago")
    page.get_by_label("Only in these buckets").fill("7")
    page.get_by_role("button", name="See what it does").click()
    assert "has no such bucket" in page.locator("#table-error").inner_text()
    assert groups.committed(NAME, "shop.orders") == {ONLY: 40}


def test_a_group_is_forgotten_when_that_is_confirmed(sight: Sight, groups: ConsumerGroups) -> None:
    """Then it is in no list any more."""
    page = sight.go(ADDRESS)
    page.get_by_role("link", name="Delete the group …").click()
    sight.check_access()
    page.get_by_role("button", name="Delete the group").click()
    expect(page.get_by_role("status").first).to_contain_text("Forgotten.")
    assert NAME not in [one.name for one in groups.groups()]
    sight.expected_statuses = {400}
    sight.go(ADDRESS)
    assert page.get_by_role("heading", level=1).inner_text() == "Refused"


def test_what_is_copied_to_remote_storage_is_shown(sight: Sight) -> None:
    """Segments and bytes here and there, what is still on its way, by table."""
    page = sight.go("/remote")
    assert eventually(lambda: page.reload() is not None and _copied(page.locator("main").inner_text()))
    row = page.get_by_role("row", name="shop.orders")
    assert "kB" in row.inner_text()
    assert page.get_by_text("Copied to").is_visible()
    page.get_by_role("link", name="shop.orders").click()
    (bucket,) = page.locator("section:has(h2:text-is('Buckets of shop.orders')) tbody tr").all_inner_texts()
    assert bucket.split("\t")[0] == "0"
    assert "kB" in bucket
    sight.check_access()
    sight.picture("console-remote")


def _copied(text: str) -> bool:
    return "In remote storage\n0 B" not in text
