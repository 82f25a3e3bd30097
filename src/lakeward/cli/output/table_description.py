"""What `tables describe` shows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lakeward.cli.output.listing import count, moment, show_facts, show_json, show_listing, show_title
from lakeward.cli.output.plain_text import one_line
from lakeward.errors import LakewardError

if TYPE_CHECKING:
    from lakeward.client.blocking.sync_table import Table
    from lakeward.model.table import TableInfo

_BUCKETS_SHOWN_MAX = 32


def describe(table: Table, output: str) -> None:
    """Print everything about a table."""
    told = {**definition(table.info), **_contents(table)}
    if output == "json":
        show_json(told)
    else:
        _show(told)


def definition(info: TableInfo) -> dict[str, Any]:
    """What the table was made to be."""
    made = info.descriptor
    return {
        "table": str(info.path),
        "table_id": info.table_id,
        "schema_id": info.schema_id,
        "comment": made.comment,
        "columns": [
            {
                "column": c.name,
                "type": str(c.type.as_nullable()),
                "nullable": c.type.nullable,
                "comment": c.comment,
            }
            for c in made.schema.columns
        ],
        "primary_key": list(made.schema.primary_key),
        "partition_by": list(made.partition_keys),
        "bucket_by": list(made.bucket_keys),
        "buckets": made.bucket_count,
        "properties": dict(made.properties),
        "custom_properties": dict(made.custom_properties),
        "created": moment(info.created_ms),
        "modified": moment(info.modified_ms),
    }


def offsets_by_bucket(table: Table) -> list[dict[str, Any]]:
    """Where each bucket's log begins and ends."""
    earliest, latest = table.offsets("earliest"), table.offsets("latest")
    return [
        {
            "partition": bucket.partition,
            "bucket": bucket.bucket,
            "earliest": earliest.get(bucket, 0),
            "latest": end,
            "rows": end - earliest.get(bucket, 0),
        }
        for bucket, end in sorted(latest.items(), key=lambda item: (item[0].partition or "", item[0].bucket))
    ]


def _contents(table: Table) -> dict[str, Any]:
    contents: dict[str, Any] = {}
    if table.info.descriptor.is_partitioned:
        contents["partitions"] = [p.name for p in table.partitions()]
    try:
        contents["rows"] = table.count()
    except LakewardError:  # a table with a primary key cannot be counted by every server
        contents["rows"] = None
    contents["offsets"] = offsets_by_bucket(table)
    return contents


def _show(told: dict[str, Any]) -> None:
    partitions = told.get("partitions")
    show_facts(
        {
            "table": f"{told['table']} (id {told['table_id']}, schema {told['schema_id']})",
            "comment": told["comment"],
            "kind": "rows by primary key" if told["primary_key"] else "log",
            "primary key": ", ".join(told["primary_key"]),
            "partition by": ", ".join(told["partition_by"]),
            "buckets": f"{told['buckets']}" + (f" by {', '.join(told['bucket_by'])}" if told["bucket_by"] else ""),
            "rows": None if told["rows"] is None else f"{told['rows']:,}",
            "created": told["created"],
            "modified": None if told["modified"] == told["created"] else told["modified"],
        }
    )
    show_title("Columns")
    commented = any(c["comment"] for c in told["columns"])
    columns = ["column", "type", "nullable", *(["comment"] if commented else [])]
    show_listing(told["columns"], columns, "table", "none")
    _show_properties("Properties", told["properties"])
    _show_properties("Custom properties", told["custom_properties"])
    if partitions is not None:
        show_title("Partitions")
        click.echo(one_line(", ".join(partitions)) or "none")
    _show_offsets(told["offsets"], is_partitioned=partitions is not None)


def _show_properties(title: str, properties: dict[str, str]) -> None:
    if properties:
        show_title(title)
        show_facts(dict(sorted(properties.items())))


def _show_offsets(offsets: list[dict[str, Any]], *, is_partitioned: bool) -> None:
    if not offsets:
        return
    show_title("Offsets")
    columns = [*(["partition"] if is_partitioned else []), "bucket", "earliest", "latest", "rows"]
    show_listing(offsets[:_BUCKETS_SHOWN_MAX], columns, "table", "none")
    left = len(offsets) - _BUCKETS_SHOWN_MAX
    if left > 0:
        click.echo(f"… and {count(left, 'bucket')} more; see `lakeward offsets`.")
