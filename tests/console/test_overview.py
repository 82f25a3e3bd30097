"""The overview, in a browser: figures that move, and what is wrong."""

from __future__ import annotations

import re
import threading

from browser_fixtures import Sight
from playwright.sync_api import expect
from server_process import ServerProcess

import lakeward


def test_rows_that_come_in_are_seen_within_two_seconds(sight: Sight, server: ServerProcess, database: str) -> None:
    """Somebody writes while somebody looks; the delay of what is written is measured, and the lines are drawn."""
    page = sight.go("/")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    with lakeward.connect(server.bootstrap) as connection:
        table = connection.create_table(f"{database}.clicks", "id BIGINT, url STRING")
        table.append([{"id": 0, "url": "/"}])
        stopping = threading.Event()
        writing = threading.Thread(target=_write, args=(table, stopping))
        writing.start()
        try:
            expect(page.locator('[data-figure="rows_in"]')).to_have_text(re.compile(r"[1-9].*/s"), timeout=20_000)
            expect(page.locator('[data-figure="delay"]')).to_have_text(re.compile(r"\d+ ms|\d.* s"), timeout=20_000)
            expect(page.locator('[data-line="rows_in"] polyline')).to_be_attached()
            expect(page.locator("#findings[aria-busy=false]")).to_be_visible(timeout=20_000)
            sight.check_access()
        finally:
            stopping.set()
            writing.join()


def _write(table: lakeward.Table, stopping: threading.Event) -> None:
    count = 0
    with table.writer(linger_ms=0) as writer:
        while not stopping.wait(0.05):
            count += 20
            writer.write([{"id": count + at, "url": "/about"} for at in range(20)])
