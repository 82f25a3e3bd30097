"""Live tail, in a browser: rows as they come, pause, conditions, changes, and rows that would like to be scripts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from browser_fixtures import Sight
from eventually import eventually
from playwright.sync_api import Page, expect
from server_process import ServerProcess

import lakeward as client

EVIL = "<script>document.title = 'gone'</script><img src=x onerror=alert(1)>"


@pytest.fixture
def conn(server: ServerProcess) -> Iterator[client.Connection]:
    """A client of the server that the console shows."""
    with client.connect(server.bootstrap) as opened:
        yield opened


def open_tail(sight: Sight, table: str, **asked: object) -> Page:
    """The page of a tail, once its rows may come."""
    page = sight.go(f"/live?{urlencode({'table': table, **asked}, doseq=True)}")
    expect(page.locator("#tail-status")).to_contain_text("Live.")
    return page


def shown(page: Page) -> list[str]:
    """The rows that the page shows, top first."""
    return [
        text.replace("\n", "").replace("\t", " ").strip()
        for text in page.locator("#tail-rows tbody tr").all_inner_texts()
    ]


@pytest.fixture
def orders(conn: client.Connection) -> Iterator[client.Table]:
    """A table with a name for pictures."""
    conn.create_database("tailed", exist_ok=True)
    yield conn.create_table("tailed.orders", "id BIGINT, item STRING, price DECIMAL(10, 2)", buckets=1)
    conn.drop_table("tailed.orders")


def test_rows_appear_as_they_are_written(sight: Sight, orders: client.Table) -> None:
    """Somebody chooses a table from the list, and sees what is written next, newest on top."""
    page = sight.go("/live")
    page.get_by_label("Table").fill(str(orders.path))
    page.get_by_role("button", name="Show its rows").click()
    expect(page.locator("#tail-status")).to_contain_text("Live.")
    delays = []
    for number in range(3):
        began = time.monotonic()
        orders.append([{"id": number, "item": f"umbrella {number}", "price": "19.00"}])
        expect(page.locator("#tail-rows tbody tr").first).to_contain_text(f"umbrella {number}")
        delays.append(time.monotonic() - began)
    print("from before the write to the page, s:", [round(delay, 3) for delay in delays])
    assert [row.split()[0] for row in shown(page)] == ["2", "1", "0"]
    expect(page.locator("#tail-status")).to_contain_text("3 rows have come, 3 shown")
    sight.check_access()
    sight.picture("console-live-tail")


def test_a_pause_holds_rows_back_and_forgets_none(sight: Sight, conn: client.Connection, database: str) -> None:
    """What comes during a pause is read from the log when it ends, by the keyboard too."""
    table = conn.create_table(f"{database}.events", "id BIGINT", buckets=2)
    table.append([{"id": 0}])
    page = open_tail(sight, str(table.path))
    expect(page.locator("#tail-rows tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Pause").press("Enter")
    expect(page.locator("#tail-status")).to_contain_text("Paused.")
    table.append([{"id": number} for number in range(1, 6)])
    expect(page.locator("#tail-rows tbody tr")).to_have_count(1)
    page.get_by_role("button", name="Resume").press("Enter")
    expect(page.locator("#tail-rows tbody tr")).to_have_count(6)
    assert sorted(shown(page)) == [str(number) for number in range(6)]


def test_columns_and_a_condition_make_it_smaller(sight: Sight, conn: client.Connection, database: str) -> None:
    """The condition may look at columns that are not shown."""
    table = conn.create_table(f"{database}.sales", "id BIGINT, country STRING, amount DOUBLE", buckets=1)
    table.append([{"id": n, "country": "DE" if n % 2 else "FR", "amount": float(n)} for n in range(40)])
    page = sight.go(f"/live?{urlencode({'table': str(table.path)})}")
    page.get_by_label("id BIGINT").check()
    page.get_by_label("Only rows for which this holds").fill("amount > 35 and country = 'DE'")
    page.get_by_label("Begin at").select_option("earliest")
    page.get_by_role("button", name="Show these rows").click()
    expect(page.locator("#tail-rows tbody tr")).to_have_count(2)
    assert shown(page) == ["39", "37"]
    assert page.locator("#tail-rows thead th").all_inner_texts()[0].split() == ["id", "BIGINT"]


def test_a_wrong_condition_is_told_beside_its_field(sight: Sight, conn: client.Connection, database: str) -> None:
    """No rows are read then; neither for a table that is not there."""
    sight.expected_statuses = {400}
    table = conn.create_table(f"{database}.wrong", "id BIGINT, item STRING", buckets=1)
    for where, told in (
        ("amount > 1", "no column 'amount'"),
        ("id >", "syntax error"),
        ("id = 'x'", "Could not convert"),
    ):
        page = sight.go(f"/live?{urlencode({'table': str(table.path), 'where': where})}")
        field = page.get_by_label("Only rows for which this holds")
        assert field.get_attribute("aria-invalid") == "true"
        assert field.input_value() == where
        expect(page.locator("#where-error")).to_contain_text(told)
        expect(page.locator("#tail")).to_have_count(0)
    page = sight.go(f"/live?{urlencode({'table': f'{database}.nowhere'})}")
    expect(page.locator("#table-error")).to_contain_text("nowhere")
    sight.check_access()


def test_changes_are_told_in_words(sight: Sight, conn: client.Connection, database: str) -> None:
    """A changelog shows what happened to each row, and a condition may ask for it."""
    table = conn.create_table(f"{database}.stock", "item STRING, pieces INT", primary_key="item", buckets=1)
    table.upsert([{"item": "kettle", "pieces": 7}])
    table.upsert([{"item": "kettle", "pieces": 6}])
    table.delete([{"item": "kettle"}])
    page = open_tail(sight, str(table.path), origin="yes")
    expect(page.locator("#tail-rows tbody tr")).to_have_count(4)
    changes = page.locator("#tail-rows tbody tr td:first-child").all_inner_texts()
    assert changes == ["-D delete", "+U update after", "-U update before", "+I insert"]
    assert "_offset" in page.locator("#tail-rows thead").inner_text()
    page = open_tail(sight, str(table.path), where="_change_type = 'delete'")
    expect(page.locator("#tail-rows tbody tr")).to_have_count(1)


def test_values_are_text_whatever_is_in_them(sight: Sight, conn: client.Connection, database: str) -> None:
    """A script in a row is shown, not run; NULL is not 'NULL'; long values open; bytes are hexadecimal."""
    schema = "a STRING, b BYTES, c ARRAY<INT>, d TIMESTAMP_LTZ(3), e TIMESTAMP(0)"
    table = conn.create_table(f"{database}.evil", schema, buckets=1)
    title = sight.go("/live").title()
    page = open_tail(sight, str(table.path))
    moment = "2026-11-18T04:00:00"
    table.append([{"a": EVIL, "b": b"\x00\xff", "c": [1, None], "d": f"{moment}Z", "e": moment}])
    table.append([{"a": "NULL"}, {"a": "long " * 100}])
    expect(page.locator("#tail-rows tbody tr")).to_have_count(3)
    assert page.title() == title
    assert page.locator("#tail-rows img, #tail-rows script").count() == 0
    longest, texts, evil = page.locator("#tail-rows tbody tr").all()
    assert evil.locator("td").all_inner_texts() == [
        EVIL,
        "0x00ff",
        "[1, null]",
        "2026-11-18 04:00:00.000Z",
        "2026-11-18 04:00:00",
    ]
    assert texts.locator("td").first.locator(".null").count() == 0
    assert texts.locator("td").nth(1).locator(".null").inner_text() == "NULL"
    longest.locator("summary").click()
    expect(longest.locator(".full")).to_have_text("long " * 100)
    assert "in UTC" in page.locator("#tail-rows thead").inner_text()
    sight.check_access()


def test_more_rows_than_a_page_can_show_are_counted(sight: Sight, conn: client.Connection, database: str) -> None:
    """The page keeps few rows, says how many it has left out, and still answers."""
    table = conn.create_table(f"{database}.flood", "id BIGINT, text STRING", buckets=3)
    page = open_tail(sight, str(table.path))
    for start in range(0, 30_000, 10_000):
        table.append([{"id": number, "text": "x" * 50} for number in range(start, start + 10_000)])
    expect(page.locator("#tail-status")).to_contain_text("30,000 rows have come", timeout=60_000)
    assert page.locator("#tail-rows tbody tr").count() <= 500
    expect(page.locator("#tail-status")).to_contain_text("left out")
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#tail-rows tbody tr")).to_have_count(0)


def test_a_closed_tab_ends_the_scan(
    sight: Sight, lakeward: ServerProcess, conn: client.Connection, database: str
) -> None:
    """Nobody reads for a page that is gone, so four more may be opened than there may be at a time."""
    table = conn.create_table(f"{database}.left", "id BIGINT", buckets=1)
    for _ in range(6):
        page = open_tail(sight, str(table.path))
    second = page.context.new_page()
    for _ in range(3):
        second.goto(page.url)
        expect(second.locator("#tail-status")).to_contain_text("Live.")
    second.close()
    assert eventually(lambda: open_tail(sight, str(table.path)).locator("#tail-failure").is_hidden())
