"""Columns with ids, keys, and the rules by which a schema grows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from lakeward.errors import ErrorCode
from lakeward.model.data_types import DataType, RowField, TypeRoot

SYSTEM_COLUMNS = ("__offset", "__timestamp", "__bucket", "_change_type", "_log_offset", "_commit_timestamp")
AGGREGATE_FUNCTIONS = frozenset(
    {
        *("sum", "product", "max", "min", "bool_and", "bool_or", "rbm32", "rbm64", "listagg", "string_agg"),
        *("first_value", "first_value_ignore_nulls", "last_value", "last_value_ignore_nulls"),
    }
)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """How a column of an aggregation table combines old and new values."""

    function: str
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Column:
    """A column. `id` never changes and is never reused; readers match old data by it. -1: not assigned yet."""

    name: str
    type: DataType
    id: int = -1
    comment: str | None = None
    aggregate: Aggregate | None = None


@dataclass(frozen=True)
class Schema:
    """The columns of a table at one moment."""

    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    auto_increment: tuple[str, ...] = ()
    highest_field_id: int = -1

    @classmethod
    def of(
        cls,
        columns: Iterable[Column | tuple[str, DataType]],
        primary_key: Sequence[str] = (),
        auto_increment: Sequence[str] = (),
    ) -> Schema:
        """Build and check a schema; ids are assigned depth-first from 0 where columns carry none."""
        built = [c if isinstance(c, Column) else Column(*c) for c in columns]
        names = [c.name for c in built]
        _check_columns(names, primary_key)
        built = [replace(c, type=c.type.not_null()) if c.name in primary_key else c for c in built]
        if all(c.id >= 0 for c in built):
            ids_used = [i for c in built for i in _ids_of(c) if i >= 0]
            if len(set(ids_used)) != len(ids_used):
                raise ErrorCode.INVALID_TABLE.error("Two columns or nested fields carry the same id.")
            highest = max(ids_used, default=-1)
            return cls(tuple(built), tuple(primary_key), tuple(auto_increment), highest)
        ids = _Ids(0)
        numbered = tuple(_number_column(c, ids) for c in built)
        return cls(numbered, tuple(primary_key), tuple(auto_increment), ids.next - 1)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(c.name for c in self.columns)

    @cached_property
    def positions(self) -> dict[str, int]:
        """Column name to position."""
        return {c.name: i for i, c in enumerate(self.columns)}

    def column(self, name: str) -> Column:
        """The column of that name."""
        try:
            return self.columns[self.positions[name]]
        except KeyError:
            known = ", ".join(self.names)
            raise ErrorCode.INVALID_TABLE.error(f"There is no column '{name}'; the columns are {known}.") from None

    def select(self, names: Sequence[str]) -> Schema:
        """The schema of a projection, ids kept; keys are dropped."""
        return replace(self, columns=tuple(self.column(n) for n in names), primary_key=(), auto_increment=())

    def add_column(self, column: Column) -> Schema:
        """This schema with one more column at the end, numbered after every id used so far."""
        ids = _Ids(self.highest_field_id + 1)
        numbered = _number_column(replace(column, id=-1), ids)
        return replace(self, columns=(*self.columns, numbered), highest_field_id=ids.next - 1)


@dataclass(slots=True)
class _Ids:
    next: int = field(default=0)

    def take(self) -> int:
        self.next += 1
        return self.next - 1


def _number_column(column: Column, ids: _Ids) -> Column:
    own = ids.take()
    return replace(column, id=own, type=_number_type(column.type, ids))


def _number_type(type_: DataType, ids: _Ids) -> DataType:
    match type_.root:
        case TypeRoot.ARRAY:
            assert type_.element is not None
            return replace(type_, element=_number_type(type_.element, ids))
        case TypeRoot.MAP:
            assert type_.key is not None
            assert type_.value is not None
            return replace(type_, key=_number_type(type_.key, ids), value=_number_type(type_.value, ids))
        case TypeRoot.ROW:
            numbered = []
            for f in type_.fields:
                own = ids.take()
                numbered.append(RowField(f.name, _number_type(f.type, ids), f.description, own))
            return replace(type_, fields=tuple(numbered))
        case _:
            return type_


def _ids_of(column: Column) -> Iterable[int]:
    yield column.id
    yield from _nested_ids(column.type)


def _nested_ids(type_: DataType) -> Iterable[int]:
    for inner in (type_.element, type_.key, type_.value):
        if inner is not None:
            yield from _nested_ids(inner)
    for f in type_.fields:
        yield f.id
        yield from _nested_ids(f.type)


def _check_columns(names: Sequence[str], primary_key: Sequence[str]) -> None:
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise ErrorCode.INVALID_TABLE.error(f"Column names must be unique; doubled: {', '.join(sorted(doubled))}.")
    for key in primary_key:
        if key not in names:
            raise ErrorCode.INVALID_TABLE.error(f"Primary key column '{key}' is not a column of the table.")
    if len(set(primary_key)) != len(primary_key):
        raise ErrorCode.INVALID_TABLE.error("A primary key column is named twice.")
