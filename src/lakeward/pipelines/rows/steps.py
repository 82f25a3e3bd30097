"""Rows of what stands between: routes, transforms, and the pipeline itself."""

from __future__ import annotations

from lakeward.options.kinds import COUNT, LIST, TEXT, Kind, choice
from lakeward.options.option import OptionTable, Scope
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.pipelines.rows.part import Part


def _parse_table_options(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        key, sign, value = pair.partition("=" if "=" in pair else ":")
        if not sign or not key.strip():
            raise ValueError(f"'{pair}' has no value; expected key=value,key=value, or a map")
        found[key.strip()] = value.strip()
    return found


TABLE_OPTIONS_KIND: Kind[dict[str, str]] = Kind("map", _parse_table_options)

_ROUTE = OptionTable(Scope.PIPELINE)
_ROUTE.optional("source-table", TEXT, "A pattern of tables, written like `tables` of the source.")
_ROUTE.optional("sink-table", TEXT, "Where they go: database.table.")
_ROUTE.optional("replace-symbol", TEXT, "A text in `sink-table` in whose place the table's own name comes.")
_ROUTE.optional("description", TEXT, "A word for whoever reads the file.")

_TRANSFORM = OptionTable(Scope.PIPELINE)
_TRANSFORM.optional("source-table", TEXT, "A pattern of tables, written like `tables` of the source.")
_TRANSFORM.optional("projection", TEXT, "Columns as in SELECT: `*`, names, expressions with AS.")
_TRANSFORM.optional("filter", TEXT, "A condition as in WHERE; a row that no longer meets it is deleted in the sink.")
_TRANSFORM.optional("primary-keys", LIST, "The primary key of the sink's table, in place of the source's.")
_TRANSFORM.optional("partition-keys", LIST, "What the sink's table is partitioned by.")
_TRANSFORM.optional("table-options", TABLE_OPTIONS_KIND, "Properties of the sink's table: key=value,… or a map.")
_TRANSFORM.optional("description", TEXT, "A word for whoever reads the file.")

_PIPELINE = OptionTable(Scope.PIPELINE)
_PIPELINE.optional("name", TEXT, "Its name, for `status` and `stop`; by default made of source and sink.")
_PIPELINE.optional("parallelism", COUNT, "Tasks that read the first copy at once.")
_PIPELINE.row(
    "schema.change.behavior",
    choice(*SchemaChanges),
    SchemaChanges.LENIENT.value,
    "What is done when a table of the source is altered, see the guide.",
)
_PIPELINE.optional("local-time-zone", TEXT, "The time zone of expressions, such as Europe/Berlin; UTC by default.")
_PIPELINE.optional("execution.checkpointing.dir", TEXT, "Where it is written down how far the pipeline is.")
_PIPELINE.open_prefix("spark.", "A setting of Spark; the first pipeline of a process that says it wins.")

STEPS = {
    "route": Part("Tables that go elsewhere than under their own name.", _ROUTE, ("source-table", "sink-table")),
    "transform": Part("What becomes of rows on their way.", _TRANSFORM, ("source-table",)),
    "pipeline": Part("The pipeline itself.", _PIPELINE),
}
