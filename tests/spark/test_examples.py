"""The examples, and the page of the connector, run as they stand: in the session that tests share."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from pyspark.sql import SparkSession
from server_process import ServerProcess

_ROOT = Path(__file__).parents[2]
_SNIPPET = re.compile(r"^```(python|sql)\n(.*?)^```$", re.DOTALL | re.MULTILINE)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


def test_the_tour_of_the_connector_runs(
    lakeward: ServerProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables, batches, a changelog, a stream with a lookup join that ends with every order in it once."""
    stop = Mock()
    monkeypatch.setattr(SparkSession, "stop", stop)  # others still need the session
    monkeypatch.setattr(sys, "argv", ["spark_tour.py", lakeward.bootstrap])
    runpy.run_path(str(_ROOT / "examples" / "spark_tour.py"), run_name="__main__")
    stop.assert_called_once_with()
    printed = capsys.readouterr().out
    assert "enriched: 1000 of 1000 orders" in printed
    assert "1 of 2 partitions" in printed  # what EXPLAIN says of the pruned read


def test_the_page_of_spark_runs(lakeward: ServerProcess) -> None:
    """Its Python and SQL are one session, from the first snippet to the last; the rows are those that it speaks of."""
    snippets = _SNIPPET.findall((_ROOT / "docs/guides/spark.md").read_text())
    assert {language for language, _ in snippets} == {"python", "sql"}
    script = "\n".join(text if language == "python" else _in_python(text) for language, text in snippets)
    names: dict[str, SparkSession] = {}
    exec(script.replace("localhost:9123", lakeward.bootstrap), names)
    rows = names["spark"].table("fluss.market.users").collect()
    assert sorted(map(tuple, rows)) == [(1, "Ada", "GOLD"), (2, "Bob", "gold"), (3, "Cy", None)]


def _in_python(sql: str) -> str:
    return "\n".join(f"spark.sql({statement.strip()!r})" for statement in sql.split(";") if statement.strip())
