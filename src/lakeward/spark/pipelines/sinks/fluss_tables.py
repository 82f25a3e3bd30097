"""Tables of a Fluss cluster for pipelines: made where they are missing, checked where they are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode
from lakeward.model.schema import Schema
from lakeward.model.table import TablePath
from lakeward.options.table import PREFIX
from lakeward.pipelines.plan import TablePlan
from lakeward.pipelines.rows.behavior import SchemaChanges
from lakeward.pipelines.sink_check import check_fit

_BUCKETS = "bucket.num"
_BUCKET_KEY = "bucket.key"


class FlussTables:
    """What a pipeline does to tables of a cluster."""

    def __init__(self, conn: Connection, options: Mapping[str, str], behavior: SchemaChanges) -> None:
        self._conn = conn
        self._options = options
        self._behavior = behavior

    def prepare(self, plans: Sequence[TablePlan], *, makes: bool, has_begun: bool) -> list[str]:
        """Make and check; what does not fit is told of every table at once."""
        notes: list[str] = []
        wrong: list[str] = []
        for plan in {plan.target: plan for plan in plans}.values():
            if not self._conn.has_table(plan.target):
                notes.append(f"{plan.target} {'is' if makes else 'would be'} made: {_describe(plan.schema)}")
                if makes:
                    self.make(plan)
                continue
            there = self._conn.table(plan.target).info.schema
            may_add = self._behavior not in {SchemaChanges.EXCEPTION, SchemaChanges.IGNORE}
            against, told = check_fit(plan, there, self._behavior, has_begun=has_begun)
            wrong += against
            notes += told
            more = [column for column in plan.schema.columns if column.name not in there.positions]
            if more and may_add:
                names = ", ".join(column.name for column in more)
                notes.append(f"{plan.target} {'gets' if makes else 'would get'} the columns {names}")
                if makes and not wrong:
                    self.add_columns(plan.target, Schema.of([(c.name, c.type.as_nullable()) for c in more]))
        if wrong:
            raise ErrorCode.INVALID_TABLE.error("\n".join(wrong))
        return notes

    def make(self, plan: TablePlan) -> None:
        """Make a table, and its database; one that is there is left as it is."""
        path = TablePath.parse(plan.target)
        self._conn.create_database(path.database, exist_ok=True)
        given = {**{key: text for key, text in self._options.items() if key.startswith(PREFIX)}, **plan.properties}
        given = {key: value for key, value in given.items() if value}
        buckets = given.pop(_BUCKETS, None) or self._options.get(_BUCKETS)
        bucket_key = given.pop(_BUCKET_KEY, None)
        self._conn.create_table(
            plan.target,
            plan.schema,
            primary_key=plan.schema.primary_key or None,
            partition_by=plan.partition_keys or None,
            bucket_by=None if bucket_key is None else [name.strip() for name in bucket_key.split(",")],
            buckets=None if buckets is None else int(buckets),
            properties={key: value for key, value in given.items() if key.startswith(PREFIX)},
            custom_properties={key: value for key, value in given.items() if not key.startswith(PREFIX)},
            comment=plan.source.comment,
            exist_ok=True,
        )

    def add_columns(self, target: str, more: Schema) -> None:
        """Add columns that are not there yet."""
        there = self._conn.table(target).info.schema
        missing = [column for column in more.columns if column.name not in there.positions]
        if missing:
            self._conn.alter_table(target, add_columns=Schema.of([(c.name, c.type) for c in missing]))


def _describe(schema: Schema) -> str:
    columns = ", ".join(f"{column.name} {column.type.as_nullable()}" for column in schema.columns)
    key = f", PRIMARY KEY ({', '.join(schema.primary_key)})" if schema.primary_key else ", no key: rows are appended"
    return f"({columns}{key})"
