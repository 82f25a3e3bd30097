"""Tables and schema changes ↔ JSON."""

from __future__ import annotations

from typing import Any

from lakeward.capture.port import SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.model.json_form import schema_of_json, schema_to_json


def table_to_json(table: SourceTable) -> dict[str, Any]:
    """A table as a JSON object."""
    form: dict[str, Any] = {"id": id_to_json(table.id), "schema": schema_to_json(table.schema)}
    if table.comment is not None:
        form["comment"] = table.comment
    if table.native_types:
        form["native_types"] = dict(table.native_types)
    if not table.has_before:
        form["has_before"] = False
    return form


def table_of_json(form: Any) -> SourceTable:
    """What `table_to_json` wrote."""
    return SourceTable(
        id_of_json(form["id"]),
        schema_of_json(form["schema"]),
        form.get("comment"),
        form.get("native_types", {}),
        form.get("has_before", True),
    )


def id_to_json(id_: TableId) -> list[str]:
    """A table's name as two strings: either may have a dot in it."""
    return [id_.space, id_.name]


def id_of_json(form: Any) -> TableId:
    """What `id_to_json` wrote."""
    space, name = form
    return TableId(space, name)


def change_to_json(change: SchemaChange) -> dict[str, Any]:
    """A schema change as a JSON object."""
    form: dict[str, Any] = {"kind": change.kind.value, "id": id_to_json(change.id)}
    if change.before is not None:
        form["before"] = table_to_json(change.before)
    if change.after is not None:
        form["after"] = table_to_json(change.after)
    if change.renamed:
        form["renamed"] = dict(change.renamed)
    if change.statement is not None:
        form["statement"] = change.statement
    return form


def change_of_json(form: Any) -> SchemaChange:
    """What `change_to_json` wrote."""
    before, after = form.get("before"), form.get("after")
    return SchemaChange(
        SchemaChangeKind(form["kind"]),
        id_of_json(form["id"]),
        None if before is None else table_of_json(before),
        None if after is None else table_of_json(after),
        form.get("renamed", {}),
        form.get("statement"),
    )
