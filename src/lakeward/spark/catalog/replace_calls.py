"""Calls of CREATE … AS SELECT and REPLACE: a table is staged, filled, and takes its name when all is there."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

from lakeward.client.staged import StagedSink
from lakeward.errors import ErrorCode
from lakeward.model.table import TablePath
from lakeward.options.table import LAKE_ENABLED
from lakeward.query.request.views import View
from lakeward.spark.catalog.catalog_calls import asked_table, describe_table, own_path
from lakeward.spark.catalog.replacing import check_replaceable, create, fill, make_beside, rename, swap
from lakeward.spark.socket.call import Call


def stage_table(call: Call) -> dict[str, Any]:
    """Make a table that will be filled: the one that is asked for, or one beside that which it replaces."""
    path, conn = own_path(call), call.conn
    asked = asked_table(call, path)
    is_there = conn.has_table(str(path))
    if call["mode"] == "replace" and not is_there:
        raise ErrorCode.TABLE_NOT_EXIST.error(f"Table {path} does not exist, and so cannot be replaced.")
    if call["mode"] == "create" or not is_there:
        return {**describe_table(create(conn, path, asked), View.ROWS), "beside": False}
    check_replaceable(conn.table(str(path)).info, "replaced")
    without_lake = {k: v for k, v in asked.properties.items() if k != LAKE_ENABLED.key}
    made = make_beside(conn, path, replace(asked, properties=without_lake))
    return {**describe_table(made, View.ROWS), "beside": True}


def commit_staged(call: Call) -> None:
    """Append the rows that were staged, if any; a table beside takes the place of the old one."""
    path, made, parts = own_path(call), TablePath.parse(call["made"]), call.parts()
    sink = call.get("sink")
    directory = None if sink is None else sink["directory"]
    if not call["beside"]:
        if directory is not None:
            StagedSink(call.conn, str(made), directory).commit(0, parts)
    else:
        if directory is not None:
            fill(call.conn, made, parts, directory)
        swap(call.conn, path, made, asked_table(call, path), parts, directory)
    _forget(sink)


def abort_staged(call: Call) -> None:
    """The table that was made goes, with what was staged for it; the old one was never touched."""
    call.conn.drop_table(call["made"], missing_ok=True)
    _forget(call.get("sink"))


def rename_table(call: Call) -> None:
    """Copy a table under another name and drop it."""
    rename(call.conn, own_path(call), TablePath.parse(call["to"]))


def _forget(sink: dict[str, Any] | None) -> None:
    if sink is not None and sink["temporary"]:
        shutil.rmtree(sink["directory"], ignore_errors=True)
