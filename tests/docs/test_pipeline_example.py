"""The example that everybody copies."""

from __future__ import annotations

from pathlib import Path

from lakeward.capture.port import TableId
from lakeward.pipelines.reading import read_pipelines

_EXAMPLE = Path(__file__).parents[2] / "examples/pipeline.yaml"


def test_the_example_is_valid() -> None:
    """And says what its comments say."""
    [found] = read_pipelines([("pipeline.yaml", _EXAMPLE.read_text())], {"SHOP_PASSWORD": "x"})
    assert found.sink_table(TableId("public", "orders_2026")) == "shop.orders"
    assert found.sink_table(TableId("public", "customers")) == "shop.customers"
    assert not found.names(TableId("public", "tmp_1"))
