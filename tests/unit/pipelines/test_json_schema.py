"""The JSON schema that is made from the rows."""

from __future__ import annotations

from jsonschema import Draft202012Validator

from lakeward.pipelines.json_schema import pipeline_schema, schema_mistakes
from lakeward.pipelines.text.document import read_documents


def test_it_is_a_schema() -> None:
    """Other programs can use it."""
    Draft202012Validator.check_schema(pipeline_schema())


def test_what_each_type_needs_is_told() -> None:
    """A key of another sink is not known here; an empty value and a list in the wrong place are named."""
    text = "source: {type: mysql, hostname: h, username: u}\nsink: {type: print, warehouse: x}\nroute: {}\npipeline:\n"
    [document], _ = read_documents(text, "p")
    told = {str(mistake) for mistake in schema_mistakes(document)}
    assert told == {
        "p:1:1: 'source' lacks 'tables' or 'database-name' and 'table-name'.",
        "p:2:21: 'sink' has no 'warehouse'.",
        "p:3:8: 'route' is a map; expected a list, whose items begin with '-'.",
        "p:4:10: 'pipeline' is empty; expected a map of keys and values.",
    }
