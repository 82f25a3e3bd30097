"""What a definition says of tables and secrets."""

from __future__ import annotations

from lakeward.capture.port import TableId
from lakeward.pipelines.definition import End
from lakeward.pipelines.reading import read_pipelines


def test_values_of_secret_options_are_hidden() -> None:
    """By the name of the option, or because they came by a reference."""
    end = End("kafka", {"properties.sasl.password": "x1y2", "topic": "t", "user": "me"}, frozenset({"user"}))
    assert end.plain_options() == {"properties.sasl.password": "******", "topic": "t", "user": "******"}
    assert end.hidden_values() == ("x1y2", "me")
    assert "x1y2" not in repr(end)


def test_who_shares_a_table_of_the_sink() -> None:
    """Shards do; a table that is named alone, or goes under its own name, does not."""
    source = "source: {type: mysql, hostname: h, username: u, tables: 'shop.\\.*'}\n"
    routes = "route: [{source-table: 'shop.o\\.*', sink-table: a.b}, {source-table: shop.x, sink-table: a.c}]\n"
    [found] = read_pipelines([("p", f"{source}sink: {{type: print}}\n{routes}")], {})
    shared = [found.shares_sink_table(TableId("shop", name)) for name in ("o1", "x", "y")]
    assert shared == [True, False, False]
    [found] = read_pipelines([("p", f"{source}sink: {{type: print, table-name: one}}\n")], {})
    assert found.shares_sink_table(TableId("shop", "y"))
