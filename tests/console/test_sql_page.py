"""SQL, in a browser: answers over lake and log, a chart, the plan, refusals, and questions that are stopped."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser_fixtures import Sight
from console_process import ConsoleProcess
from playwright.sync_api import Page, expect
from server_process import ServerProcess
from tiering_runs import TIERED, Warehouse

EVIL = "<script>document.title = 'gone'</script>"
ENDLESS = "SELECT count(*) FROM range(10000000000) a, range(10000000000) b"


@pytest.fixture(scope="module")
def sales(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A table whose rows are in two files of the lake, by day, and in the log."""
    warehouse = Warehouse(server.bootstrap, tmp_path_factory.mktemp("sql") / "lake")
    try:
        warehouse.conn.create_database("warehouse", exist_ok=True)
        columns = "day STRING, item STRING, amount DOUBLE"
        table = warehouse.conn.create_table(
            "warehouse.sales", columns, partition_by="day", buckets=1, properties=TIERED, exist_ok=True
        )
        for day in ("2026-11-16", "2026-11-17"):
            table.create_partition({"day": day}, exist_ok=True)
            table.append([{"day": day, "item": f"item {n % 5}", "amount": n / 2} for n in range(100)])
            warehouse.round(table)
        table.append([{"day": "2026-11-17", "item": EVIL, "amount": None}])
        yield str(table.path)
        warehouse.conn.drop_database("warehouse", cascade=True)
    finally:
        warehouse.close()


def ask(page: Page, sql: str) -> None:
    """Type a question and run it by the keyboard."""
    page.get_by_label("Question").fill(sql)
    page.get_by_label("Question").press("Control+Enter")


def answered(page: Page) -> list[list[str]]:
    """The rows of the answer, once it is there."""
    expect(page.locator("#progress")).to_contain_text("Answered")
    return [row.locator("td").all_inner_texts() for row in page.locator("#answer-rows tbody tr").all()]


def test_lake_and_log_are_asked_as_one(sight: Sight, sales: str) -> None:
    """The answer counts every row once; a chart of it and the plan are beside it."""
    page = sight.go("/sql")
    ask(
        page,
        f"SELECT item, count(*) AS orders, sum(amount) AS total FROM {sales} WHERE amount >= 0 GROUP BY 1 ORDER BY 1",
    )
    rows = answered(page)
    assert not page.get_by_role("button", name="Stop").is_visible()
    assert [row[:2] for row in rows] == [[f"item {n}", "40"] for n in range(5)]
    chart = page.locator("#chart-drawing svg")
    assert chart.locator(".chart-bar").count() == 5
    assert "orders by item" in str(chart.get_attribute("aria-label"))
    page.get_by_label("Kind").select_option("line")
    page.get_by_label("Up").select_option(label="total")
    expect(page.locator("#chart-drawing .chart-dot")).to_have_count(5)
    assert page.locator(".plan .plan-cold").count() > 1
    assert page.locator(".plan svg .plan-hot").count() > 1
    sight.check_access()
    sight.picture("console-sql", full_page=True)


def test_the_plan_shows_what_was_left_out(sight: Sight, sales: str) -> None:
    """A filter on the partition leaves out files and logs of others: drawn as outlines, and in words."""
    page = sight.go("/sql")
    ask(page, f"SELECT count(*) FROM {sales} WHERE day = '2026-11-16'")
    assert answered(page) == [["100"]]
    plan = page.locator(".plan")
    assert "1 of 2" in plan.locator(".facts").inner_text()
    assert plan.locator("svg[role=img] .plan-cold").count() == 1
    assert plan.locator("svg[role=img] .plan-pruned").count() >= 1
    assert "left out" in str(plan.locator("svg[role=img]").get_attribute("aria-label"))
    plan.locator("summary").click()
    assert "left out" in plan.locator("details").inner_text()
    sight.check_access()
    page.evaluate("scrollTo(0, 0)")
    sight.picture("console-plan", full_page=True, clip=plan.bounding_box())


def test_a_script_in_a_row_is_text_and_null_is_told(sight: Sight, sales: str) -> None:
    """Names of columns are text, too."""
    page = sight.go("/sql")
    ask(page, f"SELECT item AS \"<b>item</b>\", amount, 'NULL' AS word FROM {sales} WHERE amount IS NULL")
    assert answered(page) == [[EVIL, "NULL", "NULL"]]
    assert page.title() == "SQL · Lakeward"
    cells = page.locator("#answer-rows tbody td")
    assert [cells.nth(n).locator(".null").count() for n in range(3)] == [0, 1, 0]
    assert page.locator("#answer-rows thead b").count() == 0


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT *\nFROM read_csv('/etc/passwd')", "no files and nothing of the network. (line 2, column 6)"),
        ("COPY (SELECT 1) TO '/tmp/x.csv'", "COPY is no query"),
        ("SELECT nope FROM {sales}", '"nope" not found'),
        ("SELECT item FROM {sales} WHERE", "(line 1,"),
        ("SELECT * FROM warehouse.nowhere", "nowhere"),
        ("  ", "Type a question"),
    ],
)
def test_what_is_wrong_is_a_sentence_beside_the_field(sight: Sight, sales: str, sql: str, told: str) -> None:
    """With the place in the text, and never a trace."""
    page = sight.go("/sql")
    ask(page, sql.format(sales=sales))
    expect(page.locator("#question-error .error")).to_contain_text(told)
    assert page.get_by_label("Question").get_attribute("aria-invalid") == "true"
    for word in ("Traceback", "exception_type", "root:"):
        assert word not in page.locator("body").inner_text()


def test_a_question_can_be_stopped(sight: Sight, sales: str) -> None:
    """Its place is free again: more of them follow than may run at a time."""
    page = sight.go("/sql")
    for _ in range(3):
        ask(page, ENDLESS)
        page.get_by_role("button", name="Stop").click()
        expect(page.locator("#progress")).to_have_text("Stopped.")
    ask(page, "SELECT 1 AS one")
    assert answered(page) == [["1"]]


def test_rows_are_bounded_and_come_as_csv(sight: Sight, sales: str, tmp_path: Path) -> None:
    """The page shows the first thousand; the file has more, with values as other programs read them."""
    page = sight.go("/sql")
    ask(page, "SELECT r.a AS n, 'a,\"b\"' AS text, NULL AS nothing FROM range(5000) r(a)")
    expect(page.locator("#answer-title")).to_have_text("The first 1,000 rows")
    assert page.locator("#answer-rows tbody tr").count() == 1000
    with page.expect_download() as download:
        page.get_by_role("button", name="Download as CSV").click()
    download.value.save_as(tmp_path / "answer.csv")
    sight.wrongs.clear()  # a page that becomes a download counts as one that was left
    with (tmp_path / "answer.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["n", "text", "nothing"]
    assert len(rows) == 5001
    assert rows[1] == ["0", 'a,"b"', ""]


def test_it_works_without_scripts(open_sight: Callable[..., Sight], console: ConsoleProcess, sales: str) -> None:
    """The form loads a page with the answer, or with what is wrong."""
    page = open_sight(console.url, java_script_enabled=False).go(f"/sql?table={sales}")
    assert page.get_by_label("Question").input_value() == f"SELECT *\nFROM {sales}\nLIMIT 100"
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#answer-rows tbody tr")).to_have_count(100)
