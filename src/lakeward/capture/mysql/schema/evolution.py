"""Evolution: what a statement makes of the tables that are known. Where a statement is not understood, the server is
asked what the table is now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lakeward.capture.mysql.cells.charsets import Query
from lakeward.capture.mysql.cells.temporal import ValueRules
from lakeward.capture.mysql.schema import ddl
from lakeward.capture.mysql.schema.tables import NativeColumn, NativeTable, native_table, read_table, source_table
from lakeward.capture.port import SchemaChange, SchemaChangeKind, SourceTable, TableId
from lakeward.errors import LakewardError

_Wanted = Callable[[TableId], bool]
_Known = Mapping[TableId, SourceTable]


class Evolution:
    """Applies statements to tables."""

    def __init__(self, query: Query, rules: ValueRules) -> None:
        self._query = query
        self._rules = rules

    def changes(self, text: str, database: str, known: _Known, is_wanted: _Wanted) -> list[SchemaChange]:
        """What happened to tables that are wanted."""
        try:
            statement = ddl.parse_statement(text, database)
            found = [] if statement is None else self._apply(statement, known, is_wanted)
        except LakewardError:
            target = ddl.target_table(text, database)
            found = [] if target is None or not is_wanted(target) else self._ask(target, known)
        return [replace(change, statement=text) for change in found]

    def _apply(self, statement: ddl.TableStatement, known: _Known, is_wanted: _Wanted) -> list[SchemaChange]:
        match statement:
            case ddl.CreateTable(id=id_):
                return self._create(statement, known) if is_wanted(id_) else []
            case ddl.AlterTable(id=id_):
                return (
                    self._alter(statement, known, is_wanted) if is_wanted(id_) else self._arrival(statement, is_wanted)
                )
            case ddl.DropTables(ids=ids, database=database):
                gone = [id_ for id_ in known if id_.space == database] if database else [i for i in ids if i in known]
                return [SchemaChange(SchemaChangeKind.DROP, id_, known[id_]) for id_ in gone if is_wanted(id_)]
            case ddl.RenameTables(pairs=pairs):
                return self._rename(pairs, known, is_wanted)
            case ddl.TruncateTable(id=id_):
                there = known.get(id_)
                return [SchemaChange(SchemaChangeKind.TRUNCATE, id_, there, there)] if is_wanted(id_) else []

    def _ask(self, id_: TableId, known: _Known) -> list[SchemaChange]:
        now = read_table(self._query, id_)
        if not now.columns:
            return []
        before = known.get(id_)
        after = source_table(now, self._rules)
        if before is not None and before.schema == after.schema and before.native_types == after.native_types:
            return []
        kind = SchemaChangeKind.CREATE if before is None else SchemaChangeKind.ALTER
        return [SchemaChange(kind, id_, before, after)]

    def _create(self, statement: ddl.CreateTable, known: _Known) -> list[SchemaChange]:
        before = known.get(statement.id)
        if before is not None and statement.if_new:
            return []
        if statement.like is not None:
            model = native_table(known[statement.like]) if statement.like in known else None
            table = replace(model or read_table(self._query, statement.like), id=statement.id)
        else:
            columns = tuple(definition.column for definition in statement.definitions)
            table = NativeTable(statement.id, columns, statement.key, statement.comment)
        out = [SchemaChange(SchemaChangeKind.DROP, statement.id, before)] if before is not None else []
        return [*out, SchemaChange(SchemaChangeKind.CREATE, statement.id, None, source_table(table, self._rules))]

    def _alter(self, statement: ddl.AlterTable, known: _Known, is_wanted: _Wanted) -> list[SchemaChange]:
        before = known.get(statement.id)
        if before is None:
            return self._ask(statement.id, known)
        table, renamed = native_table(before), dict[str, str]()
        for action in statement.actions:
            table = _act(table, action, renamed)
        after = source_table(table, self._rules)
        out = []
        if after != before:
            out.append(SchemaChange(SchemaChangeKind.ALTER, statement.id, before, after, renamed))
        if statement.new_id is not None:
            out += self._rename([(statement.id, statement.new_id)], {**known, statement.id: after}, is_wanted)
        return out

    def _arrival(self, statement: ddl.AlterTable, is_wanted: _Wanted) -> list[SchemaChange]:
        """A table that was not captured gets a name that is."""
        return self._rename([(statement.id, statement.new_id)], {}, is_wanted) if statement.new_id else []

    def _rename(
        self,
        pairs: list[tuple[TableId, TableId]] | tuple[tuple[TableId, TableId], ...],
        known: _Known,
        is_wanted: _Wanted,
    ) -> list[SchemaChange]:
        """Tables under new names. A name that has a table before and after is that table, changed: so tools that copy
        a table, change the copy and swap the two do it.
        """
        tables, came_from = dict(known), dict[TableId, TableId]()
        for old, new in pairs:
            table = tables.pop(old, None)
            if table is None:
                found = read_table(self._query, new)
                table = source_table(found, self._rules) if found.columns else None
            if table is not None:
                tables[new] = replace(table, id=new)
                came_from[new] = came_from.pop(old, old)
        out = []
        for id_ in filter(is_wanted, known.keys() | tables.keys()):
            before, after = known.get(id_), tables.get(id_)
            moved = next((new for new, old in came_from.items() if old == id_ and is_wanted(new)), None)
            arrived = came_from.get(id_) in known and is_wanted(came_from[id_])
            if before is not None and after is not None:
                out += [SchemaChange(SchemaChangeKind.ALTER, id_, before, after)] if before != after else []
            elif before is not None and moved is not None and moved not in known:
                out.append(SchemaChange(SchemaChangeKind.ALTER, id_, before, tables[moved]))
            elif before is not None:
                out.append(SchemaChange(SchemaChangeKind.DROP, id_, before))
            elif not arrived:
                out.append(SchemaChange(SchemaChangeKind.CREATE, id_, None, after))
        return out


def _act(table: NativeTable, action: ddl.ColumnAction, renamed: dict[str, str]) -> NativeTable:
    columns = list(table.columns)
    names = [column.name.lower() for column in columns]
    match action:
        case ddl.AddColumn(definition, if_new):
            if if_new and definition.column.name.lower() in names:
                return table
            return _put_column(table, columns, definition)
        case ddl.DropColumn(name):
            if name.lower() not in names:
                return table
            del columns[names.index(name.lower())]
            return replace(table, columns=tuple(columns), key=tuple(k for k in table.key if k.lower() != name.lower()))
        case ddl.RenameColumn(name, new_name):
            index = names.index(name.lower())
            columns[index] = replace(columns[index], name=new_name)
            return _rename_key(replace(table, columns=tuple(columns)), name, new_name, renamed)
        case ddl.ChangeColumn(name, definition):
            index = names.index(name.lower())
            new = _keep_collation(columns[index], definition.column)
            key = {k.lower() for k in table.key}
            definition = replace(definition, column=replace(new, nullable=new.nullable and name.lower() not in key))
            if definition.first or definition.after:
                del columns[index]
                table = _put_column(table, columns, definition)
            else:
                columns[index] = definition.column
                table = replace(table, columns=tuple(columns))
            return _rename_key(table, name, definition.column.name, renamed)
        case ddl.SetKey(key):
            return replace(table, key=key)
        case ddl.SetComment(comment):
            return replace(table, comment=comment)


def _put_column(table: NativeTable, columns: list[NativeColumn], definition: ddl.ColumnDefinition) -> NativeTable:
    at = len(columns)
    if definition.first:
        at = 0
    elif definition.after:
        at = [column.name.lower() for column in columns].index(definition.after.lower()) + 1
    columns.insert(at, definition.column)
    key = (definition.column.name,) if definition.is_key else table.key
    return replace(table, columns=tuple(columns), key=key)


def _rename_key(table: NativeTable, name: str, new_name: str, renamed: dict[str, str]) -> NativeTable:
    if name != new_name:
        first = next((old for old, new in renamed.items() if new == name), name)
        renamed[first] = new_name
    return replace(table, key=tuple(new_name if k.lower() == name.lower() else k for k in table.key))


def _keep_collation(before: NativeColumn, after: NativeColumn) -> NativeColumn:
    """A definition that names no character set takes the table's, which most columns have already."""
    _, collate, collation = before.native.partition(" collate ")
    if not collate or " collate " in after.native:
        return after
    return replace(after, native=f"{after.native} collate {collation}")
