"""The pages of the lake, in a browser, beside a tiering service that really works."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_fixtures import Sight
from cli_process import Cli
from eventually import eventually
from playwright.sync_api import Page, expect
from server_process import ServerProcess

import lakeward
from lakeward.tiering.watch.status_table import read_statuses

PROPERTIES = {"table.datalake.enabled": "true", "table.datalake.freshness": "100 ms"}
ICEBERG = {**PROPERTIES, "table.datalake.format": "iceberg"}
PAIMON = {**PROPERTIES, "table.datalake.format": "paimon"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server of this module's own: its lake has these tables and no others."""
    with ServerProcess(tmp_path_factory.mktemp("lake-pages") / "data") as process:
        yield process


@pytest.fixture(scope="module")
def lake(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[lakeward.Connection]:
    """Tables of both formats in the lake, by rounds of a service that goes on; one table that cannot get there."""
    directory = tmp_path_factory.mktemp("lake-service")
    with lakeward.connect(server.bootstrap) as conn:
        conn.create_database("shop")
        orders = conn.create_table("shop.orders", "id BIGINT, item STRING", buckets=2, properties=ICEBERG)
        customers = conn.create_table(
            "shop.customers", "id BIGINT NOT NULL, name STRING", primary_key=["id"], buckets=1, properties=PAIMON
        )
        conn.create_table(
            "shop.pairs", "a BIGINT NOT NULL, b BIGINT NOT NULL", primary_key=["a", "b"], properties=ICEBERG
        )
        conn.create_table("shop.plain", "id BIGINT")
        service = Cli(server.bootstrap, directory).start("tier", "--warehouse", "lake", "--engine", "local")
        try:
            for number in range(3):
                orders.append([{"id": i, "item": "tea"} for i in range(100 * (number + 1))])
                customers.upsert([{"id": i, "name": f"c{number}"} for i in range(20)])
                assert eventually(lambda: _is_in_lake(conn, "shop.orders") and _is_in_lake(conn, "shop.customers"))
            assert eventually(lambda: _failures(conn, "shop.pairs") >= 1)
            yield conn
        finally:
            service.kill()
            service.communicate()


def _is_in_lake(conn: lakeward.Connection, name: str) -> bool:
    table, told = conn.table(name), conn.lake.snapshot(name)
    status = read_statuses(conn).get(name)
    ends = sum(table.offsets("latest").values())
    is_told = told is not None and sum(told.offsets.values()) == ends
    return is_told and status is not None and status.last_snapshot_id == told.snapshot_id


def _failures(conn: lakeward.Connection, name: str) -> int:
    status = read_statuses(conn).get(name)
    return 0 if status is None else status.failures


def _card(page: Page, title: str) -> str:
    return page.locator(f"section:has(h2:text-is('{title}'))").inner_text()


def test_every_lake_table_is_listed_with_its_state(lake: lakeward.Connection, sight: Sight) -> None:
    """And the reason of the one that fails; tables that are not tiered are left out."""
    page = sight.go("/lake")
    listed = _card(page, "Tables in the lake")
    assert "shop.orders" in listed
    assert "shop.customers" in listed
    assert "shop.plain" not in listed
    assert "exactly one column" in listed
    sight.check_access()
    sight.picture("console-lake")


def test_a_table_shows_its_rounds_and_what_the_lake_has(lake: lakeward.Connection, sight: Sight) -> None:
    """A bar for each round, the same in a sentence, and each snapshot with how far each bucket is."""
    page = sight.go("/lake/table?name=shop.orders")
    drawing = page.get_by_role("img")
    assert "moved 600 rows" in (drawing.get_attribute("aria-label") or "")
    assert "none failed" in (drawing.get_attribute("aria-label") or "")
    assert page.locator("svg.timeline rect.moved").count() >= 3
    contents = _card(page, "What the lake has")
    assert "iceberg" in contents
    told = lake.lake.snapshot("shop.orders")
    assert told is not None
    assert str(told.snapshot_id) in contents
    for bucket, end in told.offsets.items():
        assert f"{bucket.bucket}: {end}" in contents
    sight.check_access()
    sight.picture("console-lake-table", full_page=True)


def test_the_files_of_a_snapshot_are_listed(lake: lakeward.Connection, sight: Sight) -> None:
    """For both formats, by our own readers."""
    for name in ("shop.orders", "shop.customers"):
        page = sight.go(f"/lake/table?name={name}")
        page.get_by_role("link", name="files of the newest snapshot").click()
        expect(page.get_by_role("heading", level=1)).to_have_text(f"Files of {name}")
        assert page.get_by_role("cell", name=".parquet").count() >= 1
    sight.check_access()


def test_a_failure_is_shown_with_its_reason(lake: lakeward.Connection, sight: Sight) -> None:
    """In words, in the lane of failures, and in the list of rounds."""
    page = sight.go("/lake/table?name=shop.pairs")
    assert "exactly one column" in page.locator(".alert").first.inner_text()
    assert page.locator("svg.timeline rect.failed").count() >= 1
    assert "exactly one column" in _card(page, "Rounds")
    sight.check_access()


def test_a_table_is_paused_tiered_once_and_resumed(lake: lakeward.Connection, sight: Sight) -> None:
    """By buttons; the page follows what happens without being opened again."""
    table = lake.create_table("shop.invoices", "id BIGINT", buckets=1, properties=PAIMON)
    page = sight.go("/lake/table?name=shop.invoices")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status").first).to_contain_text("Paused.")
    expect(page.locator("#lake-figures")).to_contain_text("paused")
    table.append([{"id": 1}])
    expect(page.locator("#lake-figures")).to_contain_text("1\nrow that the lake lacks", use_inner_text=True)
    page.get_by_role("button", name="Tier now").click()
    expect(page.get_by_role("status").first).to_contain_text("A round was asked for")
    expect(page.locator("#lake-figures")).to_contain_text("0\nrows that the lake lacks", use_inner_text=True)
    assert eventually(lambda: _is_in_lake(lake, "shop.invoices"))
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    table.append([{"id": 2}])
    assert eventually(lambda: _is_in_lake(lake, "shop.invoices"))
    lake.drop_table("shop.invoices")


def test_a_lake_out_of_reach_is_told_beside_what_is_known(
    lake: lakeward.Connection, sight: Sight, tmp_path: Path
) -> None:
    """The figures of the cluster stay; what to do stands beside the reason."""
    table = lake.create_table("shop.away", "id BIGINT", properties=ICEBERG)
    table.append([{"id": 1}])
    assert eventually(lambda: _is_in_lake(lake, "shop.away"))
    elsewhere = str(tmp_path / "elsewhere")
    lake.alter_table("shop.away", set={"lakeward.tiering.paused": "true", "lakeward.lake.warehouse": elsewhere})
    page = sight.go("/lake/table?name=shop.away")
    assert f"there is no such table at {elsewhere}" in page.locator(".alert").inner_text()
    assert page.get_by_text("the console must reach the lake").is_visible()
    assert page.locator("#lake-figures").is_visible()
    page = sight.go("/lake/files?name=shop.away")
    assert elsewhere in page.locator(".alert").inner_text()
    lake.drop_table("shop.away")


def test_a_table_that_is_not_tiered_says_how_it_would_be(lake: lakeward.Connection, sight: Sight) -> None:
    """And one that is not there is 404."""
    page = sight.go("/lake/table?name=shop.plain")
    assert page.get_by_text("--set table.datalake.enabled=true").is_visible()
    sight.expected_statuses = {404, 400}
    sight.go("/lake/table?name=shop.nothing")
    assert page.get_by_role("heading", level=1).inner_text() == "Not there"
    sight.go("/lake/files?name=shop.orders&snapshot=x")
    assert page.get_by_role("heading", level=1).inner_text() == "Refused"
    sight.go("/lake/table?name=")
