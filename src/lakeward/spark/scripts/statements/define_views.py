"""CREATE VIEW and ALTER VIEW."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from lakeward.language.place import ScriptError
from lakeward.language.statements.define import AlterView, CreateView
from lakeward.language.statements.statement import Name
from lakeward.language.statements.table_definition import TableDefinition
from lakeward.spark.scripts.state.outcome import Outcome
from lakeward.spark.scripts.state.script_tables import View
from lakeward.spark.scripts.statements.context import Context


def create_view(statement: CreateView, context: Context) -> Outcome:
    """CREATE VIEW: the query is kept, with full names, and is read where the view is."""
    full = context.tables.full(statement.name.parts)
    known = context.tables.temporary if statement.is_temporary else context.tables.views
    there = known.get(full)
    view = View(_full_names(statement.query, context), statement.query_text, statement.columns, statement.comment)
    message = f"{'temporary ' * statement.is_temporary}view {'.'.join(full)}"
    if there is not None and not statement.or_replace:
        is_same = isinstance(there, View) and (there.query, there.columns) == (view.query, view.columns)
        if not (statement.if_not_exists or is_same):
            raise ScriptError(
                statement.name.place,
                f"there is a {'view' if isinstance(there, View) else 'table'} {statement.name} already; say CREATE OR "
                "REPLACE, or give it another name.",
            )
        return Outcome(statement=statement, message=message)
    known[full] = view
    return Outcome(statement=statement, message=message)


def _full_names(query: exp.Query, context: Context) -> exp.Query:
    """A copy in which names stand for the same, wherever USE leads later; places in it are those of another text."""
    copy = query.copy()
    inner = {cte.alias.lower() for cte in copy.find_all(exp.CTE)}
    for node in copy.find_all(exp.Table):
        parts = tuple(part.name for part in node.parts)
        found = None if len(parts) == 1 and parts[0].lower() in inner else context.tables.find(parts)
        if found is None:
            continue
        full = context.tables.full(parts)
        if isinstance(found, TableDefinition):
            full = (found.catalog, found.database, found.name)
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(parts[-1], quoted=True)))
        for key, part in zip(("catalog", "db", "this"), full, strict=True):
            node.set(key, exp.to_identifier(part, quoted=True))
    for any_node in copy.walk():
        any_node.meta.pop("line", None)
    return copy


def alter_view(statement: AlterView, context: Context) -> Outcome:
    """ALTER VIEW: another name, or another query; its columns are those of the new query."""
    tables, name = context.tables, statement.name
    found = tables.require(name)
    if not isinstance(found, View):
        raise ScriptError(name.place, f"{name} is a table: say ALTER TABLE.")
    full = tables.full(name.parts)
    is_temporary = full in tables.temporary
    if statement.query is not None:
        changed = View(_full_names(statement.query, context), statement.query_text, (), found.comment)
        if is_temporary:
            tables.temporary[full] = changed
        else:
            tables.views[full] = changed
        return Outcome(statement=statement, message=f"view {'.'.join(full)} changed")
    assert statement.new_name is not None
    new = _new_name(name, statement.new_name, context)
    if is_temporary:
        tables.temporary[new] = tables.temporary.pop(full)
    else:
        tables.views[new] = tables.views.pop(full)
    return Outcome(statement=statement, message=f"view {'.'.join(new)}")


def _new_name(old: Name, new: Name, context: Context) -> tuple[str, str, str]:
    """In the database of the old one, unless it says another; where there is nothing yet."""
    catalog, database, _ = context.tables.full(old.parts)
    if len(new.parts) == 1:
        new = replace(new, parts=(catalog, database, new.parts[0]))
    if context.tables.find(new.parts) is not None:
        raise ScriptError(new.place, f"there is a table or view {new} already; give it another name.")
    return context.tables.full(new.parts)
