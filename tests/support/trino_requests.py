"""Requests as Trino sends them to a REST catalog, for tests without one."""

from __future__ import annotations

from typing import Any

from catalog_process import CatalogProcess

FIELDS = [{"id": 1, "name": "id", "type": "long", "required": False}]
SORTED = {"source-id": 1, "transform": "identity", "direction": "asc", "null-order": "nulls-first"}


def staged(name: str, location: str | None = None) -> dict[str, Any]:
    """What a writer sends that wants to know how a table will be, before it is made."""
    schema = {"type": "struct", "schema-id": 0, "fields": FIELDS}
    where = {} if location is None else {"location": location}
    return {"name": name, **where, "schema": schema, "properties": {"format-version": "2"}, "stage-create": True}


def create_as_trino(catalog: CatalogProcess, namespace: str, name: str, location: str) -> None:
    """The requests of its CREATE TABLE."""
    path = f"/v1/namespaces/{namespace}/tables"
    answer = catalog.ask("POST", path, json=staged(name, location))
    assert answer.status_code == 200, answer.text
    made = answer.json()["metadata"]
    assert made["location"] == location
    updates = [
        {"action": "assign-uuid", "uuid": made["table-uuid"]},
        {"action": "upgrade-format-version", "format-version": 2},
        {"action": "add-schema", "schema": made["schemas"][0], "last-column-id": 1},
        {"action": "set-current-schema", "schema-id": -1},
        {"action": "add-spec", "spec": {"spec-id": 0, "fields": []}},
        {"action": "set-default-spec", "spec-id": -1},
        {"action": "add-sort-order", "sort-order": {"order-id": 0, "fields": []}},
        {"action": "set-default-sort-order", "sort-order-id": -1},
        {"action": "set-location", "location": location},
        {"action": "set-properties", "updates": {"write.format.default": "PARQUET"}},
    ]
    told = {"requirements": [{"type": "assert-create"}], "updates": updates}
    answer = catalog.ask("POST", f"{path}/{name}", json=told)
    assert answer.status_code == 200, answer.text
