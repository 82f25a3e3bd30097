"""May a pipeline write into a table that is there? At its start, and when it goes on."""

from __future__ import annotations

from lakeward.model.schema import Schema
from lakeward.pipelines.fit import misfits
from lakeward.pipelines.plan import TablePlan
from lakeward.pipelines.rows.behavior import SchemaChanges


def check_fit(
    plan: TablePlan, there: Schema, behavior: SchemaChanges, *, has_begun: bool
) -> tuple[list[str], list[str]]:
    """What stands against a table that is there, and what is merely worth a note.

    Types may have changed while a pipeline was on its way. One that goes on casts values where its behaviour says so;
    otherwise it stops at the change itself, which says by which statement, and what to do.
    """
    may_add = behavior not in {SchemaChanges.EXCEPTION, SchemaChanges.IGNORE}
    found = misfits(plan.schema, there, may_add=may_add or has_begun)
    told = [f"Table {plan.target} is there, and does not fit {plan.source.id}: {why}." for why in found]
    if has_begun and set(plan.schema.primary_key) == set(there.primary_key):
        return [], told
    return told, []
