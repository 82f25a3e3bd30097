"""ChosenTable: the table and view that connector options name, and the columns a DataFrame wants of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, Self

from lakeward.errors import ErrorCode
from lakeward.model.schema import Column, Schema
from lakeward.model.table import TableInfo, TablePath
from lakeward.options.spark import TABLE
from lakeward.query.request.views import View, parse_name, view_schema
from lakeward.spark.table.connections import connection
from lakeward.spark.table.types import field_type, spark_type


class SparkColumns(Protocol):
    """What has columns as Spark writes them: a StructType, or whoever holds its JSON."""

    def json(self) -> str:
        """A struct in Spark's JSON."""
        ...


@dataclass(frozen=True)
class ChosenTable:
    """A table that exists. `schema` is that of the view."""

    path: TablePath
    view: View
    info: TableInfo
    schema: Schema

    @classmethod
    def of(cls, options: Mapping[str, str]) -> Self:
        """Ask the server for the table that the options name."""
        name = TABLE.read(options)
        if not name:
            raise ErrorCode.INVALID_CONFIG.error(
                "No table is named: give it as .option('table', 'db.table') or .load('db.table')."
            )
        path, view = parse_name(name)
        info = connection(options).table(str(path)).info
        return cls(path, view, info, view_schema(info.schema, view))

    def columns_for(self, schema: SparkColumns) -> Schema:
        """The columns of a DataFrame's schema, as it has them; refuses those that the table lacks or has otherwise."""
        wanted = columns_of(schema)
        for column in wanted.columns:
            if column.name not in self.schema.names:
                raise ErrorCode.INVALID_TARGET_COLUMN.error(
                    f"Table {self.path} has no column '{column.name}'; its columns are {', '.join(self.schema.names)}."
                )
            own = self.schema.column(column.name).type
            if not _alike(spark_type(own), spark_type(column.type)):
                raise ErrorCode.INVALID_TARGET_COLUMN.error(
                    f"Column '{column.name}' of table {self.path} is {own.as_nullable()}, and the schema given asks"
                    f" for {column.type.as_nullable()}; ask for what it is, and cast it afterwards."
                )
        return wanted


def columns_of(schema: SparkColumns) -> Schema:
    """The columns of a DataFrame; unlike those of a table they may be called `_change_type`."""
    fields = json.loads(schema.json())["fields"]
    return Schema(tuple(Column(field["name"], field_type(field)) for field in fields))


def _alike(own: object, asked: object) -> bool:
    """Whether two types in Spark's JSON differ in nothing but names of metadata and NULLs allowed."""
    if isinstance(own, dict) and isinstance(asked, dict):
        ignored = {"nullable", "containsNull", "valueContainsNull", "metadata"}
        return own.keys() == asked.keys() and all(_alike(own[k], asked[k]) for k in own if k not in ignored)
    if isinstance(own, list) and isinstance(asked, list):
        return len(own) == len(asked) and all(map(_alike, own, asked))
    return own == asked
