"""Pictures of the overview and of a table for the documentation, with names that people read; `make pictures`."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from browser_fixtures import Sight
from console_process import ConsoleProcess
from server_process import ServerProcess

import lakeward

pytestmark = pytest.mark.skipif(not os.environ.get("LAKEWARD_PICTURES"), reason="pictures are made by `make pictures`")

_POINTS, _LOOKS = 40, 300
_ITEMS = ("kettle", "lantern", "umbrella", "wool socks", "notebook", "thermos")


def test_pictures_of_a_shop(tmp_path: Path, open_sight: Callable[[str], Sight]) -> None:
    """A minute of orders, seen live; the table that they are in."""
    with (
        ServerProcess(tmp_path / "data") as server,
        lakeward.connect(server.bootstrap) as connection,
        ConsoleProcess(server.bootstrap, tmp_path / "console.log") as console,
    ):
        connection.create_database("shop")
        orders = connection.create_table(
            "shop.orders",
            "id BIGINT, item STRING COMMENT 'as on the receipt', qty INT, price DECIMAL(10, 2), placed_at TIMESTAMP(3)",
            buckets=4,
            properties={"table.log.ttl": "30d"},
            comment="Every order that was placed.",
        )
        stopping = threading.Event()
        threads = [threading.Thread(target=work, args=(orders, stopping)) for work in (_write, _read)]
        for thread in threads:
            thread.start()
        sight = open_sight(console.url)
        try:
            page = sight.go("/")
            line = page.locator("[data-line=rows_out] polyline")
            for _ in range(_LOOKS):  # the policy of the page forbids a function that waits inside it
                if len((line.get_attribute("points") or "").split()) >= _POINTS:
                    break
                page.wait_for_timeout(500)
            sight.picture("console-overview")
            page.emulate_media(color_scheme="dark")
            sight.picture("console-overview-dark")
            page.emulate_media(color_scheme="light")
            sight.go("/tables/shop/orders")
            sight.picture("console-table")
        finally:
            stopping.set()
            for thread in threads:
                thread.join()


def _write(table: lakeward.Table, stopping: threading.Event) -> None:
    count = 0
    with table.writer(linger_ms=5) as writer:
        while not stopping.wait(0.05):
            now = datetime.now(UTC).replace(tzinfo=None, microsecond=0)
            size = 30 + count // 7 % 40
            writer.write(
                [
                    {"id": count + at, "item": _ITEMS[at % 6], "qty": 1 + at % 4, "price": "19.00", "placed_at": now}
                    for at in range(size)
                ]
            )
            count += size


def _read(table: lakeward.Table, stopping: threading.Event) -> None:
    for _ in table.scan(["id", "item"], start="latest", end=None).follow():
        if stopping.is_set():
            return
