"""What tasks tell the driver."""

from __future__ import annotations

from lakeward.spark.pipelines.sinks.port import Part
from lakeward.spark.pipelines.write.report import Report


def test_it_comes_back_from_its_rows_and_adds_up() -> None:
    """Counts, parts, schema changes and notes."""
    report = Report()
    report.count("a.b", 3, 7)
    report.count("a.c", 2, None, is_computed=True)
    report.parts.append(Part("x.y", b"bytes"))
    report.schemas.append(b"{}")
    report.notes.append("told")
    back = Report.of_rows(report.batch().to_pylist())
    assert back == report
    back.add(report)
    assert back.rows == {"a.b": 6}
    assert Report().batch().num_rows == 0
