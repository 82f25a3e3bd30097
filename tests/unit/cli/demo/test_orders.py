"""Orders of the demo."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from lakeward.cli.demo.orders import COLUMNS, Orders
from lakeward.model.schema import Schema
from lakeward.model.type_text import parse_columns
from lakeward.records.arrow.arrow_types import arrow_schema, conform
from lakeward.runtime.clock import ManualClock
from lakeward.runtime.entropy import SeededEntropy


def test_orders_fit_their_table_and_are_numbered() -> None:
    """Numbers go on from where the last run ended, and each order is placed now."""
    orders = Orders(ManualClock(1_785_000_000_123), SeededEntropy(1), next_id=41)
    placed = [orders.next() for _ in range(20)]
    schema = Schema.of(parse_columns(COLUMNS)[0])
    table = conform(pa.Table.from_pylist(placed, schema=arrow_schema(schema)), schema)
    assert table["id"].to_pylist() == list(range(41, 61))
    assert set(table["placed_at"].to_pylist()) == {datetime.fromtimestamp(1_785_000_000.123, UTC)}
    assert all(price > 0 for price in table["price"].to_pylist())
