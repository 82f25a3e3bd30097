"""Evolution: a change of the source's table → what is done with the sink's. Values only.

| the source's table | evolve | try_evolve | lenient | ignore | exception |
|---|---|---|---|---|---|
| is created | made | made | made | left out | stops |
| gets a column | added | added | added | left out | stops |
| loses a column | stops | stays, NULL from now on | stays, NULL | stays, NULL | stops |
| has one renamed | stops | new name added, old stays | new added, old stays | left out, old stays | stops |
| has a type changed | stops, unless the sink's holds it | values are cast | cast | cast | stops |
| is truncated | rows deleted | rows deleted | rows stay | rows stay | stops |
| is dropped | stays | stays | stays | stays | stops |

A table of Fluss can get columns, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lakeward.capture.port import SchemaChange, SchemaChangeKind, TableId
from lakeward.errors import ErrorCode, LakewardError
from lakeward.model.schema import Column, Schema
from lakeward.pipelines.fit import can_hold
from lakeward.pipelines.rows.behavior import SchemaChanges

_FOLLOWING = (SchemaChanges.EVOLVE, SchemaChanges.TRY_EVOLVE, SchemaChanges.LENIENT)
_TRUNCATING = (SchemaChanges.EVOLVE, SchemaChanges.TRY_EVOLVE)


@dataclass(frozen=True, slots=True)
class Evolution:
    """What is done."""

    add: tuple[Column, ...] = ()
    is_made: bool = False
    """Whether the table is made, if it is not there."""
    is_emptied: bool = False
    notes: tuple[str, ...] = ()

    def without_columns(self) -> Evolution:
        """The same, where a projection says which columns there are."""
        return replace(self, add=())

    def sentences(self, table: TableId, target: str) -> tuple[str, ...]:
        """What a person should know of it: databases do not log what a new column holds in rows that were there."""
        before = f"in rows that {target} has from before it is NULL until they change"
        return (*self.notes, *(f"{table}: column {column.name} is new; {before}." for column in self.add))


def evolve(change: SchemaChange, behavior: SchemaChanges, there: Schema | None, target: str) -> Evolution:
    """What is done about a change, when the sink's table is as `there`; a LakewardError where the pipeline stops."""
    if behavior is SchemaChanges.EXCEPTION:
        raise _refusal(change, "'schema.change.behavior' is exception")
    match change.kind:
        case SchemaChangeKind.CREATE:
            if behavior in _FOLLOWING:
                return Evolution(is_made=True)
            return Evolution(notes=(f"{change.id} is new, and left out.",))
        case SchemaChangeKind.DROP:
            return Evolution(notes=(f"{change.id} was dropped; {target} stays as it is.",))
        case SchemaChangeKind.TRUNCATE:
            if behavior in _TRUNCATING:
                return Evolution(is_emptied=True)
            return Evolution(notes=(f"{change.id} was truncated; the rows of {target} stay.",))
    return _alter(change, behavior, there, target)


def _alter(change: SchemaChange, behavior: SchemaChanges, there: Schema | None, target: str) -> Evolution:
    if change.after is None or there is None:
        return Evolution()
    new = [column for column in change.after.schema.columns if column.name not in there.positions]
    before = change.after.schema if change.before is None else change.before.schema
    gone = [name for name in before.names if name not in change.after.schema.names]
    narrow = [
        f"column {column.name} is {column.type.as_nullable()} now, which {there.column(column.name).type} of {target} "
        "cannot hold"
        for column in change.after.schema.columns
        if column.name in there.positions and not can_hold(there.column(column.name).type, column.type)
    ]
    notes = [f"column {name} is gone; it stays in {target}, NULL in rows that come from now on" for name in gone]
    if behavior is SchemaChanges.EVOLVE and (gone or narrow):
        raise _refusal(change, "; ".join([*(f"column {name} is gone" for name in gone), *narrow]))
    if behavior is SchemaChanges.IGNORE:
        notes += [f"column {column.name} is new, and left out" for column in new]
        new = []
    told = tuple(f"{change.id}: {note}." for note in [*notes, *narrow])
    return Evolution(tuple(replace(one, id=-1, type=one.type.as_nullable()) for one in new), notes=told)


def _refusal(change: SchemaChange, why: str) -> LakewardError:
    statement = f" by: {change.statement.strip()}" if change.statement else ""
    return ErrorCode.INVALID_ALTER_TABLE.error(
        f"{change.id} was changed ({change.kind.value}){statement}. The pipeline stops here: {why}. Change the sink's "
        "table to what it should be, set 'schema.change.behavior' to lenient or ignore, and run it again."
    )
