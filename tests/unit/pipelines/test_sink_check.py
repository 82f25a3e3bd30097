"""May a pipeline write into a table that is there?"""

from __future__ import annotations

from pipeline_events import BEFORE, definition_of, source_table

from lakeward.pipelines.plan import plan_tables
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.pipelines.sink_check import check_fit


def test_one_that_goes_on_casts_where_it_is_lenient() -> None:
    """A new one is refused, and one with another key. One that must not evolve stops where its source was changed."""
    [plan] = plan_tables(definition_of("type: print"), [BEFORE])
    there = source_table("o INT, n INT, item INT, PRIMARY KEY (o, n)").schema
    why = (
        "Table public.lines is there, and does not fit public.lines: its column item is INT, which cannot hold STRING."
    )
    assert check_fit(plan, there, SchemaChanges.LENIENT, has_begun=False) == ([why], [])
    assert check_fit(plan, there, SchemaChanges.LENIENT, has_begun=True) == ([], [why])
    assert check_fit(plan, there, SchemaChanges.EVOLVE, has_begun=True) == ([], [why])
    other_key = source_table("o INT, n INT, item STRING, PRIMARY KEY (o)").schema
    assert check_fit(plan, other_key, SchemaChanges.LENIENT, has_begun=True)[0] != []
