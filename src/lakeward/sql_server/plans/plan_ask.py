"""A question for a plan, and its answer: tiered splits, the schema, and where the rights to read them come from.

Version 1 of the answer holds the plan of docs/reference/plan.schema.json as it is printed by `lakeward plan -o json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lakeward.client.blocking.sync import Connection
from lakeward.errors import ErrorCode
from lakeward.model.json_form import schema_to_json
from lakeward.options.secrets import may_be_told
from lakeward.options.spark import LAKE_PREFIX
from lakeward.query.duckdb.sql_tree import where_filters
from lakeward.query.plan.log_bytes import with_log_bytes
from lakeward.query.plan.planner import plan_read
from lakeward.query.request.request import ReadRequest
from lakeward.query.request.views import view_schema

_VERSION = 1
_PARALLELISM_MAX = 10_000
_KEYS = {"table", "columns", "filter", "as_of", "snapshot", "parallelism"}


def plan_answer(conn: Connection, asked: Any) -> dict[str, Any]:
    """The answer to what somebody sent as JSON; a LakewardError says what is wrong with it."""
    if not isinstance(asked, dict) or not isinstance(asked.get("table"), str):
        raise _wrong('an object with "table": "db.table"')
    unknown = set(asked) - _KEYS
    if unknown:
        raise _wrong(f"no key {min(unknown)!r}; there are {', '.join(sorted(_KEYS))}")
    named = ReadRequest.of_name(asked["table"])
    table = conn.table(str(named.path))
    table.check_right()  # who may not read it learns nothing of its files
    shown = view_schema(table.info.schema, named.view)
    where = _text(asked, "filter")
    request = ReadRequest(
        named.path,
        named.view,
        _columns(asked, shown.names),
        () if where is None else where_filters(where, shown),
        options=_options(conn, asked),
        parallelism=_parallelism(asked),
    )
    plan = with_log_bytes(table, plan_read(conn, request))
    return {
        "version": _VERSION,
        "schema": schema_to_json(shown),
        "request": request.to_json(),
        "credentials": _credentials(conn),
        "plan": plan.to_json(),
    }


def _credentials(conn: Connection) -> dict[str, Any]:
    """Where back ends get what they need to read; never a secret itself."""
    lake = {key: value for key, value in conn.lake_properties.items() if may_be_told(key)}
    login = conn.inner.security.login
    return {
        "log": {"bootstrap": conn.inner.bootstrap, "user": None if login is None else login.user},
        "lake": {"properties": lake, "keys": "GET_FILESYSTEM_SECURITY_TOKEN"},
    }


def _options(conn: Connection, asked: Mapping[str, Any]) -> dict[str, str]:
    given = {LAKE_PREFIX + key: value for key, value in conn.lake_properties.items()}
    for key, option in (("as_of", "scan.timestamp-millis"), ("snapshot", "scan.snapshot-id")):
        value = asked.get(key)
        if value is not None:
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise _wrong(f'"{key}" as a text or a number')
            given[option] = str(value)
    return given


def _columns(asked: Mapping[str, Any], names: Sequence[str]) -> tuple[str, ...] | None:
    columns = asked.get("columns")
    if columns is None:
        return None
    if not isinstance(columns, list) or not columns or not all(isinstance(one, str) for one in columns):
        raise _wrong('"columns" as a list of names')
    unknown = [name for name in columns if name not in names]
    if unknown:
        raise ErrorCode.INVALID_SCAN_REQUEST.error(f"There is no column '{unknown[0]}'; there are {', '.join(names)}.")
    return tuple(columns)


def _parallelism(asked: Mapping[str, Any]) -> int:
    wanted = asked.get("parallelism", 2)
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 < wanted <= _PARALLELISM_MAX:
        raise _wrong(f'"parallelism" from 1 to {_PARALLELISM_MAX}')
    return wanted


def _text(asked: Mapping[str, Any], key: str) -> str | None:
    value = asked.get(key)
    if value is not None and not isinstance(value, str):
        raise _wrong(f'"{key}" as a text')
    return value


def _wrong(what: str) -> Exception:
    return ErrorCode.INVALID_SCAN_REQUEST.error(f"A plan is asked for by {what}.")
