"""Events in their order → a sink."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_events import HISTORY, SinkBench, definition_of, rows, source_table

from lakeward.capture.port import SchemaChange, SchemaChangeKind, TableId
from lakeward.errors import LakewardError
from lakeward.spark.pipelines.sinks.print_sink import PrintWriter
from lakeward.spark.pipelines.write.event_writer import EventWriter


def test_rows_are_counted_by_table(tmp_path: Path) -> None:
    """With when the last was committed, and the changes of schemas."""
    report = SinkBench("type: print", tmp_path).batch(1, HISTORY[1])
    assert report.rows == {"public.lines": 6}
    assert report.committed_ms == {"public.lines": 5}
    assert len(report.schemas) == 1


def test_computed_tables_are_left_to_spark() -> None:
    """Their rows are counted, and not written."""
    definition = definition_of("type: print", "transform: [{source-table: public.lines, filter: o > 1}]\n")
    writer = EventWriter(definition, PrintWriter(""))
    for event in HISTORY[0]:
        writer.take(event)
    report = writer.finish()
    assert (report.rows, report.computed, report.parts) == ({}, {"public.lines": 3}, [])


def test_columns_are_chosen_and_renamed_without_spark() -> None:
    """A projection of plain names needs no expressions."""
    definition = definition_of(
        "type: print", "transform: [{source-table: public.lines, projection: 'n, o, item AS what'}]\n"
    )
    writer = EventWriter(definition, PrintWriter(""))
    writer.take(HISTORY[0][0])
    assert writer.finish().parts[0].content.decode().splitlines()[0] == "public.lines +I[1, 0, a]"


def test_a_new_table_whose_name_a_cluster_cannot_take_is_refused_or_ignored() -> None:
    """With the way out; where changes are ignored it is left out as every new table is."""
    id_ = TableId("public", "Odd Names")
    new = SchemaChange(SchemaChangeKind.CREATE, id_, after=source_table("o INT, PRIMARY KEY (o)", id_))
    with pytest.raises(LakewardError, match=r"leave it out by 'tables\.exclude'"):
        EventWriter(definition_of("type: fluss"), PrintWriter("")).take(new)
    writer = EventWriter(definition_of("type: fluss", "pipeline: {schema.change.behavior: ignore}\n"), PrintWriter(""))
    writer.take(new)
    assert writer.finish().notes == ["public.Odd Names is new, and left out."]


def test_a_table_without_a_key_takes_no_changes() -> None:
    """The sentence says what to do."""
    table = source_table("what STRING")
    writer = EventWriter(definition_of("type: print"), PrintWriter(""))
    writer.take(rows(table, [("a",)]))
    with pytest.raises(LakewardError, match=r"has no primary key, so public.lines only takes new rows"):
        writer.take(rows(table, [("a",)], [4]))
